# Order: all that a result was computed from, each node after its parents.
def ordered(result):
    order = []

    def visit(node):
        for parent in node.parents:
            if parent not in order:
                visit(parent)
        order.append(node)

    visit(result)
    return order
