"""The mapping table: bytes that one part covers (`reach`, `edges`), and bytes covered in memory."""
