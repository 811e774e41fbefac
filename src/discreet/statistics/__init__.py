"""Statistics, one file each: required releases, error propagation, estimate, interval, stored form.

Plans and answers use all statistics through one interface (`recipe`). The declaration of a
statistic (`query.algebra.statistic`) names its file, and `catalogue.recipe_of` loads it on first
use. Start at `recipe`, then read `mean`.

    count  distinct  sum  mean  variance  covariance  correlation  quantile  mode  overall
    recipe           interface of all statistics
    catalogue        finds the file that makes a statistic
    shared_totals    ways to share totals between the statistics of a question
    releases         noisy totals and private choices that statistics are made from
    laws             bounds on the error and confidence intervals from the laws of the noise
"""
