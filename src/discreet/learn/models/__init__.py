"""Models in scikit-learn's manner, one file each."""
