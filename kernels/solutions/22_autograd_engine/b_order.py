# Order: all that a result was computed from, each node after its parents.
def ordered(result):
    order, seen = [], set()

    def visit(node):
        if node in seen:
            return
        seen.add(node)
        for parent in node.parents:
            visit(parent)
        order.append(node)

    visit(result)
    return order
