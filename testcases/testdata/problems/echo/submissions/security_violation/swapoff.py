import ctypes

# The name is no swap area: only the call itself counts.
ctypes.CDLL(None).swapoff(b"/no/such/area")
