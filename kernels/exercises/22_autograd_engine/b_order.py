# Order: all that a result was computed from, each node after its parents.
def ordered(result):
    order = []

    def visit(node):
        # Your code here: first its node.parents; each node once.
        order.append(node)

    visit(result)
    return order
