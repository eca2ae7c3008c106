"""What policies may ask their host, and the answers of a render."""
