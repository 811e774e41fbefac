"""Pages of what is made beside answers: synthetic tables and models, weighed before they are paid for."""
