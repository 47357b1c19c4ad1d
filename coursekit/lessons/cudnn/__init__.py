"""cuDNN's graphs under the names of its Python interface, on any machine.

`pygraph` describes operations and the tensors between them, as the package
nvidia-cudnn-frontend does. Where a GPU and that package are, cuDNN computes. Elsewhere
NumPy does, as a named oracle: it reads memory by the tensors' strides, adds in float32,
rounds results to the types of the tensors, and refuses graphs that no engine of the
library computes in one kernel.
"""

from coursekit.lessons.cudnn.graph import Graph, pygraph
from coursekit.lessons.cudnn.run import Run
from coursekit.lessons.cudnn.tensors import Tensor, channels_last

__all__ = ["Graph", "Run", "Tensor", "channels_last", "pygraph"]
