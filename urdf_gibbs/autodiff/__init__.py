"""What the functions for JAX and PyTorch share: coordinates and their tangent space over arrays, and checks of gravity."""
