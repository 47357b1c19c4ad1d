# Layer: y = relu(x * w + bias), as a graph of one kernel.
def layer(graph, x, w, bias):
    y = graph.conv_fprop(x, w, padding=(1, 1))
    y = graph.relu(graph.bias(y, bias))
    return y.set_output(True)
