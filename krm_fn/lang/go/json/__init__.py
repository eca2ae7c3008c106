"""JSON as Go's encoding/json reads it (`scanner`) and writes it (`encode`)."""
