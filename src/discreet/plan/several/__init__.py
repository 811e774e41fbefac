"""More than one question: a workload under one charge, and how many equal questions fit a budget."""
