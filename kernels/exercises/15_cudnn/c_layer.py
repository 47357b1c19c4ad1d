# Layer: y = relu(x * w + bias), as a graph of one kernel.
def layer(graph, x, w, bias):
    y = graph.conv_fprop(x, w, padding=(1, 1))
    # Your code here: what follows, and which tensor is an output.
    return y
