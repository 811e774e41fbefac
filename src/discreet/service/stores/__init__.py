"""What the service keeps: people, receipts, data sets."""
