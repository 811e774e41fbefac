"""Pages of synthetic tables and models, with a preview of cost and error before they are paid for."""
