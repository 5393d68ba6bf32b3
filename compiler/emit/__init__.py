"""Job plans as programs that need no headrace."""
