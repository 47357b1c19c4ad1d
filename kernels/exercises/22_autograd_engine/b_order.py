# Order: all that a result was computed from, each node after its parents.
def ordered(result):
    order, seen = [], set()

    def visit(node):
        # Your code here: each node once, and after its node.parents.
        seen.add(node)
        order.append(node)

    visit(result)
    return order
