"""The rules that operations name: shapes, value domains, error conditions, numeric contracts."""
