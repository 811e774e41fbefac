"""What an event costs in each measure, in closed form."""
