"""The way into a store: sources are read strictly, and how one record is cut or read depends on no other record."""
