"""Methods of the library: kernels, maps, learners and the others, with their options.

Written by scripts/python_tables.py from the library's tables. Do not edit.
"""
from typing import Dict, NamedTuple, Tuple


class Option(NamedTuple):
    """An option of a method."""

    name: str
    type: str
    default: str
    range: str
    help: str


class Method(NamedTuple):
    """A method; the last four are of learners."""

    name: str
    summary: str
    details: str
    cite: str
    alias: str
    options: Tuple[Option, ...]
    tasks: Tuple[str, ...] = ()
    probabilities: str = ""
    unlabelled: bool = False
    checkpoint: bool = False
    graph: bool = False


TABLES: Dict[str, Dict[str, Method]] = {
    "kernels": {
        "gaussian": Method(
            "gaussian",
            "exp(-|x-y|^2 / (2 sigma^2))",
            "Also called rbf.",
            "rahimi2007",
            "rbf",
            (
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "bandwidth",
                ),
            ),
        ),
        "laplacian": Method(
            "laplacian",
            "exp(-|x-y|_1 / sigma)",
            "",
            "rahimi2007",
            "",
            (
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "bandwidth",
                ),
            ),
        ),
        "exponential": Method(
            "exponential",
            "exp(-|x-y| / sigma)",
            "The roughest of the Matern kernels (nu = 1/2).",
            "rasmussen2006",
            "",
            (
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "length",
                ),
            ),
        ),
        "cauchy": Method(
            "cauchy",
            "prod_j 1 / (1 + ((x_j-y_j)/sigma)^2)",
            "",
            "rahimi2007",
            "",
            (
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "scale",
                ),
            ),
        ),
        "matern": Method(
            "matern",
            "2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu)|x-y|/sigma",
            "",
            "rasmussen2006",
            "",
            (
                Option(
                    "nu",
                    "number",
                    "1.5",
                    "[0.05, 50]",
                    "smoothness",
                ),
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "length",
                ),
            ),
        ),
        "rq": Method(
            "rq",
            "(1 + |x-y|^2 / (2 alpha sigma^2))^(-alpha)",
            "Rational quadratic: Gaussian kernels of many widths at once.",
            "rasmussen2006",
            "",
            (
                Option(
                    "alpha",
                    "number",
                    "1",
                    "[0.01, 1000000]",
                    "power; large: gaussian",
                ),
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "length",
                ),
            ),
        ),
        "periodic": Method(
            "periodic",
            "exp(-2 sum_j sin^2(pi (x_j-y_j)/p) / sigma^2)",
            (
                "The period is that of the inputs after `scale`; with `scale=none` it is their "
                "own. sigma has no unit."
            ),
            "rasmussen2006",
            "",
            (
                Option(
                    "p",
                    "number",
                    "1",
                    "(0, 1e+30]",
                    "period",
                ),
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "bandwidth",
                ),
            ),
        ),
        "spectral": Method(
            "spectral",
            "sum_c w_c exp(-(x-y)'V_c (x-y) / 2) cos(mu_c'(x-y))",
            (
                "The spectral mixture kernel. Without a file its q components have the same weight "
                "and means that are drawn by the kernel's own seed, not by that of a training: the "
                "same expression is the same kernel everywhere. With file=MODEL weights, means and "
                "deviations are those that askl(form=mixture) has learned, on columns that are "
                "encoded as there; a model that is trained with it holds them and does without the "
                "file."
            ),
            "wilson2013",
            "",
            (
                Option(
                    "q",
                    "integer",
                    "4",
                    "[1, 256]",
                    "components; those of the file where there is one",
                ),
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    (
                        "length: means are N(0, 1) / sigma, deviations 1 / (2 sigma); of a file: a "
                        "factor of its lengths, 1 when not given"
                    ),
                ),
                Option(
                    "seed",
                    "integer",
                    "1",
                    "[0, 9007199254740992]",
                    "of the means; another seed is another kernel",
                ),
                Option(
                    "file",
                    "text",
                    "",
                    "",
                    "the mixture of this model, which the learner askl(form=mixture) found",
                ),
            ),
        ),
        "anova": Method(
            "anova",
            "prod_j (1 + c exp(-|x_j-y_j| / sigma)) / (1 + c)",
            (
                "Effects of single columns, of pairs and of larger sets, each with a weight: small "
                "c for few at a time, large c for laplacian."
            ),
            "stitson1999",
            "",
            (
                Option(
                    "c",
                    "number",
                    "1",
                    "(0, 1000000]",
                    "weight of a column",
                ),
                Option(
                    "sigma",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "length",
                ),
            ),
        ),
        "linear": Method(
            "linear",
            "<x, y>",
            "",
            "",
            "",
            (),
        ),
        "poly": Method(
            "poly",
            "(gamma <x,y> + c)^degree",
            "Positive definite for c >= 0 and gamma > 0, indefinite otherwise.",
            "",
            "",
            (
                Option(
                    "degree",
                    "integer",
                    "3",
                    "[1, 64]",
                    "power",
                ),
                Option(
                    "c",
                    "number",
                    "1",
                    "[-1e+30, 1e+30]",
                    "constant",
                ),
                Option(
                    "gamma",
                    "number",
                    "1",
                    "[-1e+30, 1e+30]",
                    "factor of <x, y>",
                ),
            ),
        ),
        "tanh": Method(
            "tanh",
            "tanh(gamma <x,y> + c)",
            "Also called sigmoid.",
            "",
            "sigmoid",
            (
                Option(
                    "gamma",
                    "number",
                    "1",
                    "[-1e+30, 1e+30]",
                    "factor of <x, y>",
                ),
                Option(
                    "c",
                    "number",
                    "0",
                    "[-1e+30, 1e+30]",
                    "constant",
                ),
            ),
        ),
        "epanechnikov": Method(
            "epanechnikov",
            "(1 - |x-y|^2/a^2)^m where |x-y| < a, else 0",
            (
                "Indefinite in general; positive definite on rows of length one (`scale=unit`) "
                "with a >= 2 and a whole m. On d columns a difference of two positive definite "
                "kernels for m > (d - 1)/2: elsewhere gorf and grff serve distances up to a only."
            ),
            "",
            "",
            (
                Option(
                    "a",
                    "number",
                    "3",
                    "(0, 1e+30]",
                    "where it is 0",
                ),
                Option(
                    "m",
                    "number",
                    "1",
                    "[0, 1000]",
                    "power",
                ),
            ),
        ),
        "tl1": Method(
            "tl1",
            "max(rho - |x-y|_1, 0)",
            "Piecewise linear. The default of rho suits inputs between 0 and 1.",
            "huang2018",
            "",
            (
                Option(
                    "rho",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "distance where it is 0; 0.7 d where not given",
                ),
            ),
        ),
        "arccos": Method(
            "arccos",
            "(|x| |y|)^order J_order(angle) / pi",
            (
                "One hidden layer of infinitely many units. J_0 = pi - a, J_1 = sin a + (pi - a) "
                "cos a, J_2 = 3 sin a cos a + (pi - a)(1 + 2 cos^2 a)."
            ),
            "cho2009",
            "",
            (
                Option(
                    "order",
                    "integer",
                    "1",
                    "[0, 2]",
                    "0: steps, 1: ramps (ReLU), 2: squared ramps",
                ),
            ),
        ),
        "ntk": Method(
            "ntk",
            "tangent kernel of a wide ReLU network",
            (
                "What gradient descent on a fully connected network learns in the limit of "
                "infinite width. It grows with the lengths of the rows: `scale=unit` makes it a "
                "function of the angle."
            ),
            "jacot2018",
            "",
            (
                Option(
                    "depth",
                    "integer",
                    "2",
                    "[1, 100]",
                    "hidden layers",
                ),
                Option(
                    "bias",
                    "number",
                    "0",
                    "[0, 1000000]",
                    "its square is added to each layer's covariance",
                ),
                Option(
                    "scale",
                    "number",
                    "1",
                    "(0, 1000000]",
                    "factor of x",
                ),
            ),
        ),
        "spline": Method(
            "spline",
            "prod_j (1 + 2 sum_k cos(2 pi k (x_j-y_j)) / k^q)",
            (
                "Periodic splines on [0, 1]: the ends of the range are neighbours, and new values "
                "outside are taken modulo 1. For few columns: k(x, x) = (1 + 2 zeta(q))^d. Even q "
                "are fastest. A sum of `terms` terms is slower, and exists for q <= 1 too."
            ),
            "wahba1990",
            "",
            (
                Option(
                    "q",
                    "number",
                    "2",
                    "(0, 64]",
                    "decay of the coefficients k^-q; above 1, or with terms",
                ),
                Option(
                    "terms",
                    "integer",
                    "0",
                    "[0, 1000000]",
                    "number of terms of the sum, slower; 0: all of it",
                ),
            ),
        ),
        "chi2": Method(
            "chi2",
            "sum_j 2 x_j y_j / (x_j + y_j)",
            (
                "For histograms and other inputs that are not negative (`scale=minmax` makes them "
                "so); new values below 0 count as 0."
            ),
            "vedaldi2012",
            "",
            (),
        ),
        "intersection": Method(
            "intersection",
            "sum_j min(x_j, y_j)",
            (
                "For histograms and other inputs that are not negative (`scale=minmax` makes them "
                "so); new values below 0 count as 0."
            ),
            "vedaldi2012",
            "",
            (),
        ),
        "precomputed": Method(
            "precomputed",
            "K[i][j], a matrix in a file",
            (
                "The data have one input, the number of the row in the matrix, from 0; use "
                "`scale=none`. New rows are columns of the same matrix. Give the path from where "
                "predict will run. For the maps exact and nystrom."
            ),
            "",
            "",
            (
                Option(
                    "file",
                    "text",
                    "",
                    "",
                    "square matrix, NPY, float32 or float64",
                ),
            ),
        ),
    },
    "maps": {
        "rff": Method(
            "rff",
            "random Fourier features",
            (
                "For stationary kernels (gaussian, laplacian, cauchy, matern) and their sums, "
                "differences, products and factors."
            ),
            "rahimi2007",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "phase",
                    "yes|no",
                    "no",
                    "",
                    "cos with random phases instead of cos and sin pairs",
                ),
            ),
        ),
        "nrff": Method(
            "nrff",
            "normalised random Fourier features",
            (
                "Features with phases, each row brought to the length sqrt(k(0)): less variance "
                "than rff(phase=yes), a bias of O(1/D). For stationary positive definite kernels."
            ),
            "li2017",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "orf": Method(
            "orf",
            "orthogonal random features",
            (
                "For radial kernels (gaussian, matern) and their sums, differences, products and "
                "factors. The default for them."
            ),
            "yu2016",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "sorf": Method(
            "sorf",
            "structured orthogonal random features",
            (
                "For radial kernels that are mixtures of Gaussians (gaussian, matern) and their "
                "sums, differences, products and factors. Products with sign and Walsh-Hadamard "
                "matrices: much faster than orf for many columns, at about its error, with a small "
                "bias."
            ),
            "yu2016",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "fastfood": Method(
            "fastfood",
            "Fastfood",
            (
                "For radial kernels that are mixtures of Gaussians (gaussian, matern) and their "
                "sums, differences, products and factors. Two Walsh-Hadamard products a block of "
                "frequencies: as fast as sorf and unbiased, but with up to twice the variance of "
                "rff."
            ),
            "le2013",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "scrf": Method(
            "scrf",
            "signed circulant random features",
            (
                "For radial kernels that are mixtures of Gaussians (gaussian, matern), kernels "
                "with independent coordinates (laplacian, cauchy), and their sums, differences, "
                "products and factors. Products by FFT; unbiased, with up to twice the variance of "
                "rff."
            ),
            "feng2015",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "pmodel": Method(
            "pmodel",
            "P-model: Toeplitz or Hadamard frequencies",
            (
                "For radial kernels that are mixtures of Gaussians (gaussian, matern) and their "
                "sums, differences, products and factors. Frequencies from few random numbers; "
                "unbiased, with more variance than rff and fastfood."
            ),
            "choromanski2016",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "matrix",
                    "toeplitz|hadamard",
                    "toeplitz",
                    "",
                    "how the frequencies share their random numbers",
                ),
            ),
        ),
        "qmc": Method(
            "qmc",
            "quasi-Monte Carlo features",
            (
                "Frequencies from the points of a low-discrepancy sequence, for stationary kernels "
                "whose spectral law has quantiles (gaussian, matern, exponential, rq, laplacian, "
                "cauchy, periodic), their sums, differences, products and factors. Sobol for at "
                "most 16,383 columns. Unbiased when scrambled."
            ),
            "yang2014",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "sequence",
                    "halton|sobol",
                    "sobol",
                    "",
                    "the sequence of points",
                ),
                Option(
                    "scramble",
                    "yes|no",
                    "yes",
                    "",
                    (
                        "points made random; without, features are biased and do not depend on the "
                        "seed"
                    ),
                ),
            ),
        ),
        "ssf": Method(
            "ssf",
            "spherical structured features",
            (
                "Directions spread evenly over the sphere by a structured search, stratified "
                "lengths, random rotations of sets of them. For radial kernels that are mixtures "
                "of Gaussians (gaussian, matern, exponential, rq), their sums, differences, "
                "products and factors. Unbiased."
            ),
            "lyu2017",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "sets",
                    "many|one",
                    "many",
                    "",
                    (
                        "directions in many sets with a rotation each, or in one, as version 0.1 "
                        "drew them"
                    ),
                ),
            ),
        ),
        "mm": Method(
            "mm",
            "moment matching features",
            (
                "Random frequencies transformed so that their mean and covariance are exact. Much "
                "less variance than rff at short distances, a bias of O(1/D). For stationary "
                "kernels whose spectral law has a finite variance (not laplacian), with D above "
                "twice the columns."
            ),
            "shen2017",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    (
                        "number of features, more than twice the columns; chosen from the data "
                        "when not given"
                    ),
                ),
            ),
        ),
        "leverage": Method(
            "leverage",
            "frequencies by ridge leverage scores",
            (
                "For stationary kernels with a known spectral measure and their sums, differences, "
                "products and factors. Candidates are scored on at most 2,048 training rows; those "
                "that a ridge regression needs most are kept more often, with weights that leave "
                "the kernel unbiased."
            ),
            "bach2017",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "pool",
                    "integer",
                    "4",
                    "[1, 1000]",
                    "candidates for each frequency that is kept",
                ),
                Option(
                    "lambda",
                    "number",
                    "0.001",
                    "(0, 1000]",
                    "ridge of the scores, per row",
                ),
            ),
        ),
        "surrogate": Method(
            "surrogate",
            "frequencies by surrogate leverage scores",
            (
                "For stationary kernels with a known spectral measure and their sums, differences, "
                "products and factors, on data with labels. As leverage, with scores from the "
                "products of candidates and labels on at most 10,000 training rows."
            ),
            "liu2020",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "pool",
                    "integer",
                    "4",
                    "[1, 1000]",
                    "candidates for each frequency that is kept",
                ),
            ),
        ),
        "aligned": Method(
            "aligned",
            "frequencies weighted by alignment with the labels",
            (
                "For positive definite stationary kernels with a known spectral measure and their "
                "sums, products and factors, on data with labels. Of the candidates, those that go "
                "best with the labels of at most 10,000 training rows are kept, with weights. The "
                "features are not unbiased for the kernel: they are of a kernel fitted to the "
                "labels."
            ),
            "sinha2016",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "pool",
                    "integer",
                    "10",
                    "[1, 1000]",
                    "candidates for each frequency that is kept",
                ),
                Option(
                    "rho",
                    "number",
                    "0",
                    "[0, 1000000000]",
                    (
                        "size of the chi-square ball, at least what D asks for; larger keeps fewer "
                        "features"
                    ),
                ),
            ),
        ),
        "binning": Method(
            "binning",
            "random binning: the cells of random grids",
            (
                "For the laplacian kernel. A feature for each cell of a grid that has training "
                "rows in it; of a row's features one a grid is not zero (transform to a .libsvm "
                "file keeps those only). Suits few columns or a wide kernel: else every row has a "
                "cell to itself."
            ),
            "rahimi2007",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features, at most; chosen from the data when not given",
                ),
            ),
        ),
        "hybrid": Method(
            "hybrid",
            "Fourier features beside binning",
            "For the laplacian kernel: rff and binning side by side, each for a share of it.",
            "rahimi2007",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features, at most; chosen from the data when not given",
                ),
                Option(
                    "share",
                    "number",
                    "0.5",
                    "(0, 1)",
                    "part of the kernel, and of D, for Fourier features",
                ),
            ),
        ),
        "grff": Method(
            "grff",
            "generalised random Fourier features",
            (
                "For indefinite kernels: radial ones (differences of Gaussians) on all rows, "
                "dot-product ones (poly, tanh) on rows of length one (`scale=unit`). Features of "
                "positive and negative frequencies have signs +1 and -1. gorf has less variance."
            ),
            "luo2022",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "route",
                    "auto|density|atoms",
                    "auto",
                    "",
                    "where radii come from: the spectral density, or atoms fitted to the kernel",
                ),
                Option(
                    "tol",
                    "number",
                    "",
                    "(0, 1]",
                    (
                        "greatest error of atoms, relative to the largest kernel value; chosen "
                        "with the variance when not given"
                    ),
                ),
            ),
        ),
        "gorf": Method(
            "gorf",
            "generalised orthogonal random features",
            (
                "For indefinite kernels: radial ones (differences of Gaussians) on all rows, "
                "dot-product ones (poly, tanh) on rows of length one (`scale=unit`). Features of "
                "positive and negative frequencies have signs +1 and -1. On rows of length one "
                "epanechnikov(a, m=1) is linear: the map explicit has it exactly with d + 1 "
                "features."
            ),
            "luo2022",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "route",
                    "auto|density|atoms",
                    "auto",
                    "",
                    "where radii come from: the spectral density, or atoms fitted to the kernel",
                ),
                Option(
                    "coupling",
                    "auto|nested|full|separate",
                    "auto",
                    "",
                    "which frequencies share directions",
                ),
                Option(
                    "tol",
                    "number",
                    "",
                    "(0, 1]",
                    (
                        "greatest error of atoms, relative to the largest kernel value; chosen "
                        "with the variance when not given"
                    ),
                ),
            ),
        ),
        "srf": Method(
            "srf",
            "spherical random features",
            (
                "For radial kernels, and dot-product kernels on rows of length one (`scale=unit`). "
                "Fits a positive measure, which an indefinite kernel does not have: biased. A "
                "published baseline; gorf is better."
            ),
            "pennington2015",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "digmm": Method(
            "digmm",
            "difference of Gaussian mixtures",
            (
                "For radial kernels, and dot-product kernels on rows of length one (`scale=unit`). "
                "Fits a signed mixture of Gaussians and draws from its measure: a small bias, and "
                "more mass than gorf needs. A published baseline; gorf is better."
            ),
            "liu2019",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "explicit": Method(
            "explicit",
            "all monomials, exact",
            (
                "For linear and polynomial kernels of low degree, their sums, differences and "
                "products; on rows of length one (`scale=unit`) also for epanechnikov, which for m "
                "= 1 has the d + 1 features of a linear kernel. C(d+p, p) features for degree p: D "
                "is not chosen."
            ),
            "shawetaylor2004",
            "",
            (),
        ),
        "maclaurin": Method(
            "maclaurin",
            "random Maclaurin features",
            (
                "For every kernel with a power series in <x, y>, some of them on rows of length "
                "one only (`scale=unit`). tensorsketch is faster for large D."
            ),
            "kar2012",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "law",
                    "split|geometric",
                    "split",
                    "",
                    "degrees by fixed shares of D, or drawn one by one as published",
                ),
            ),
        ),
        "tensorsketch": Method(
            "tensorsketch",
            "sketches of tensor powers",
            (
                "For polynomial kernels and every other kernel with a power series in <x, y>, some "
                "of them on rows of length one only (`scale=unit`). Powers of two are the fastest "
                "D."
            ),
            "pham2013",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "arccos": Method(
            "arccos",
            "random units of one layer",
            (
                "For arc-cosine kernels and their sums, differences, products and factors. The "
                "default for them. orthogonal=yes lowers the error at a higher cost to fit."
            ),
            "cho2009",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "orthogonal",
                    "yes|no",
                    "no",
                    "",
                    "orthogonal weights in blocks of the number of columns",
                ),
            ),
        ),
        "ntkrf": Method(
            "ntkrf",
            "random features of a tangent kernel, tensor products",
            (
                "For ntk, its sums and factors. m1 + m0 d features for one layer; each further "
                "layer multiplies them by m0, so that it is for small depth and few columns: with "
                "four layers and 4,096 features it is off by more than half of the kernel, where "
                "ntksketch has an error of a tenth. Unbiased for one layer."
            ),
            "zandieh2021",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "m0",
                    "integer",
                    "",
                    "[1, 1000000]",
                    "steps of a layer; from D when not given",
                ),
                Option(
                    "m1",
                    "integer",
                    "",
                    "[1, 1000000]",
                    "ramps of a layer; from D when not given",
                ),
            ),
        ),
        "ntksketch": Method(
            "ntksketch",
            "random features of a tangent kernel, sketched products",
            (
                "For ntk, its sums and factors, at any depth. The default for them. Unbiased for "
                "one layer; for more the bias falls faster than the error."
            ),
            "zandieh2021",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "m0",
                    "integer",
                    "",
                    "[1, 1000000]",
                    "steps of a layer; from D when not given",
                ),
                Option(
                    "m1",
                    "integer",
                    "",
                    "[1, 1000000]",
                    "ramps of a layer; from D when not given",
                ),
                Option(
                    "mcs",
                    "integer",
                    "",
                    "[2, 16777216]",
                    "entries of a sketch, rounded down to a power of two; from D when not given",
                ),
            ),
        ),
        "spline": Method(
            "spline",
            "random shifts of periodic splines",
            "For the spline kernel, on few columns between 0 and 1. Even q are fastest.",
            "rudi2017",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
            ),
        ),
        "learned": Method(
            "learned",
            "cosines with learned frequencies",
            (
                "The features cos(W'x + b) + cos(V'x + b) of the learner askl, which trains the "
                "frequencies W and V. For other learners they are those of a model (file), on "
                "columns that are encoded as there, or draws from the spectral measure of the "
                "kernel: one stationary kernel, or a product of such. With two sets of frequencies "
                "the features are those of a non-stationary kernel."
            ),
            "li2020",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "spectrum",
                    "stationary|nonstationary",
                    "nonstationary",
                    "",
                    "one set of frequencies, or one for each of the two terms",
                ),
                Option(
                    "sines",
                    "yes|no",
                    "no",
                    "",
                    "cos and sin pairs instead of cosines with phases",
                ),
                Option(
                    "file",
                    "text",
                    "",
                    "",
                    (
                        "the frequencies of this model, with its D, spectrum and form; of a model "
                        "of the learner net the map network"
                    ),
                ),
            ),
        ),
        "deep": Method(
            "deep",
            "layers of random Fourier features, in float or in a few bits",
            (
                "The features of one layer are the inputs of the next. For one stationary kernel, "
                "or a product of such, whose spectral measure the first layer is drawn from. With "
                "bits below 32 frequencies and features are whole numbers, and so is the "
                "arithmetic."
            ),
            "luo2022",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    (
                        "features of the last layer, a cosine and a sine for each frequency; "
                        "chosen from the data when not given"
                    ),
                ),
                Option(
                    "layers",
                    "integer",
                    "2",
                    "[1, 12]",
                    "layers of so many features each",
                ),
                Option(
                    "bits",
                    "integer",
                    "32",
                    "[1, 32]",
                    "of frequencies and features: 32, or whole numbers of 8, 4, 2 or 1",
                ),
            ),
        ),
        "network": Method(
            "network",
            "features of a network: all of its layers but the last",
            (
                "The features that the learner net trains, for images and for tables. For other "
                "learners they are those of a model (file), on rows of the same shape, or random "
                "ones. They stand for the kernel z(x)'z(y) of their own."
            ),
            "he2016",
            "",
            (
                Option(
                    "arch",
                    "text",
                    "",
                    "",
                    (
                        "the network: \"convnet(3-32-32-32)\" (channels that come into each "
                        "convolution), \"resnet(20)\", \"mlp(64-64)\"; by the rows when not given"
                    ),
                ),
                Option(
                    "file",
                    "text",
                    "",
                    "",
                    "the network of this model, as it was trained",
                ),
            ),
        ),
        "nystrom": Method(
            "nystrom",
            "Nystrom features from landmarks",
            (
                "For every kernel. Landmarks are training rows drawn uniformly, centres of k-means "
                "(better where rows form clusters; on wide sparse rows its k-means++ seeds), "
                "training rows drawn by ridge leverage scores (rows that others do not explain; "
                "positive definite kernels), or those of a file, at most D. Of an indefinite "
                "kernel about half as many features as landmarks are kept: the others would not "
                "approximate it. With bits below 32 rows, landmarks and kernel values are whole "
                "numbers, and so are inner products; for kernels that are computed from these."
            ),
            "williams2001",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 1000000]",
                    "number of landmarks; chosen from the data when not given",
                ),
                Option(
                    "landmarks",
                    "uniform|kmeans|leverage",
                    "uniform",
                    "",
                    (
                        "rows drawn uniformly, k-means centres, or rows drawn by ridge leverage "
                        "scores"
                    ),
                ),
                Option(
                    "file",
                    "text",
                    "",
                    "",
                    (
                        "landmarks from this file: rows with the columns of the data, or one "
                        "column of row numbers from 1"
                    ),
                ),
                Option(
                    "bits",
                    "integer",
                    "32",
                    "[1, 32]",
                    "of the landmarks: 32, or whole numbers of 8, 4, 2 or 1",
                ),
            ),
        ),
        "auto": Method(
            "auto",
            "each term by the map that suits it",
            (
                "For sums of kernels of different families: every term is approximated by its own "
                "default map with an equal share of D. The default for such sums."
            ),
            "shawetaylor2004",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features of all terms; chosen from the data when not given",
                ),
            ),
        ),
        "exact": Method(
            "exact",
            "the kernel itself, on few rows",
            (
                "The default up to 7,500 rows, up to 40,000 where krr chooses the kernel; at most "
                "`max_exact`."
            ),
            "scholkopf2002",
            "",
            (),
        ),
    },
    "learners": {
        "krr": Method(
            "krr",
            "kernel ridge regression; classes through -1/+1 targets",
            (
                "On features in one pass (plus one for leave-one-out), or on the kernel matrix "
                "with map=exact. lambda by exact leave-one-out unless `lambda_` is given. "
                "norm=krein is for maps whose features have signs (gorf): the stationary point "
                "that map=exact finds on the kernel matrix. solver=pcg, the default where D x D "
                "numbers do not fit into memory, passes over the features many times; above 8,192 "
                "rows it chooses lambda by a tenth of the rows, at most 4,096, held out. With "
                "map=exact it keeps half of the kernel matrix, in float32 or, above 32,000 rows, "
                "16 bits, and chooses lambda by a tenth, at most 2,000. On nystrom with 1,024 "
                "landmarks or more and a positive definite kernel it is the default where it is "
                "faster, keeps all landmarks (no feature is dropped), and chooses lambda that way. "
                "Probabilities are calibrated on leave-one-out scores, or on those of folds "
                "(`select=cv`, groups, solver=pcg)."
            ),
            "saunders1998",
            "",
            (
                Option(
                    "norm",
                    "hilbert|krein",
                    "hilbert",
                    "",
                    (
                        "features with signs (indefinite kernels): penalise |w|^2, or stabilise "
                        "with the kernel's own w'Sw; with map=exact it is the latter either way"
                    ),
                ),
                Option(
                    "solver",
                    "auto|direct|pcg",
                    "auto",
                    "",
                    (
                        "normal equations (map=exact: a factorisation of the kernel matrix), or "
                        "conjugate gradients, which need no D x D numbers; auto: the latter on "
                        "features where the former do not fit into memory, or rows are few, for "
                        "many landmarks of nystrom, and with map=exact above 8,192 rows where it "
                        "is shorter"
                    ),
                ),
            ),
            ("regression", "classification", "multilabel"),
            "asked",
            False,
            True,
            False,
        ),
        "dckrr": Method(
            "dckrr",
            "ridge regression on parts of the rows, averaged (divide and conquer)",
            (
                "Each part solves its own problem, and the models are averaged by the weight of "
                "their rows: one pass on features, kernel matrices of a part's rows with map=exact "
                "(`max_exact` then counts those). lambda by exact leave-one-out of the average "
                "unless `lambda_` is given. One part is krr. See docs/divide.md."
            ),
            "zhang2015",
            "",
            (
                Option(
                    "parts",
                    "integer",
                    "",
                    "[1, 1000000]",
                    "number of parts; as many as krein advise says when not given",
                ),
                Option(
                    "order",
                    "blocks|shuffle",
                    "",
                    "",
                    (
                        "a part is a stretch of the data, or rows drawn from all over it; when not "
                        "given stretches, unless their labels differ"
                    ),
                ),
            ),
            ("regression", "classification", "multilabel"),
            "asked",
            False,
            False,
            False,
        ),
        "sskrr": Method(
            "sskrr",
            "ridge regression that learns from rows without labels too",
            (
                "Unlabelled rows come by `unlabeled`, or have an empty label or \"?\" in the data. "
                "They sharpen what is known of the inputs: labels stand against the features of "
                "all rows. On features only; lambda by exact leave-one-out unless `lambda_` is "
                "given. See docs/semisupervised.md."
            ),
            "chang2017",
            "",
            (
                Option(
                    "parts",
                    "integer",
                    "1",
                    "[1, 1000000]",
                    "number of parts, averaged as in dckrr",
                ),
                Option(
                    "order",
                    "blocks|shuffle",
                    "",
                    "",
                    (
                        "a part is a stretch of the data, or rows drawn from all over it; when not "
                        "given stretches, unless their labels differ"
                    ),
                ),
            ),
            ("regression", "classification", "multilabel"),
            "asked",
            True,
            False,
            False,
        ),
        "laprls": Method(
            "laprls",
            "ridge regression that a graph of all rows keeps smooth",
            (
                "Laplacian regularised least squares: rows without labels (`unlabeled`, or with an "
                "empty label or \"?\") take part through the graph of nearest neighbours, on which "
                "predictions are to differ little along edges. On the kernel matrix of all "
                "distinct rows (`map=exact`), on landmarks, or on any features. lambda and "
                "lambda_i, where not given, by leave-one-out over the labelled rows; lambda_i = 0 "
                "is krr on these. Probabilities, and thresholds of labels, come from leave-one-out "
                "scores. See docs/semisupervised.md."
            ),
            "belkin2006",
            "",
            (
                Option(
                    "lambda",
                    "number",
                    "",
                    "(0, 1e+30]",
                    (
                        "weight of |f|^2, as `lambda_`, which it stands in for; chosen when "
                        "neither is given"
                    ),
                ),
                Option(
                    "lambda_i",
                    "number",
                    "",
                    "[0, 1e+30]",
                    "weight of the graph's term f'Lf/n^2; chosen when not given",
                ),
                Option(
                    "solver",
                    "auto|direct|cg|pcg",
                    "",
                    "",
                    (
                        "closed form, conjugate gradients, or these with a preconditioner; auto: "
                        "direct up to 3,000 rows or 2,048 features, then pcg"
                    ),
                ),
                Option(
                    "tol",
                    "number",
                    "1e-06",
                    "(0, 1]",
                    (
                        "conjugate gradients end where predictions are off by so much of the "
                        "labels' deviation"
                    ),
                ),
                Option(
                    "iterations",
                    "integer",
                    "1000",
                    "[1, 1000000000]",
                    "or after so many",
                ),
                Option(
                    "k",
                    "integer",
                    "10",
                    "[1, 1000]",
                    "neighbours that a row names in the graph",
                ),
                Option(
                    "near",
                    "auto|exact|tree|descent",
                    "auto",
                    "",
                    (
                        "how they are found: all pairs, a k-d tree (exact too, for few columns), "
                        "or nearest-neighbour descent (approximate); auto: by what it takes"
                    ),
                ),
                Option(
                    "edges",
                    "heat|binary",
                    "heat",
                    "",
                    "weights of edges: exp(-|x-y|^2/(2 width^2)), or 1",
                ),
                Option(
                    "width",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "of heat weights; the median distance to the k-th neighbour when not given",
                ),
                Option(
                    "laplacian",
                    "combinatorial|normalized",
                    "combinatorial",
                    "",
                    "D - W, or I - D^(-1/2) W D^(-1/2)",
                ),
            ),
            ("regression", "classification", "multilabel"),
            "asked",
            True,
            False,
            True,
        ),
        "vvr": Method(
            "vvr",
            "all scores together, on a graph of all rows, with few singular values",
            (
                "Vector-valued learning, for many classes, several numbers or several labels a "
                "row, on features of any map: the loss of the labelled rows, |W|^2, the Laplacian "
                "of the graph of all rows (those without labels come by `unlabeled`, or with an "
                "empty label or \"?\"), and the singular values of W but the theta largest, by "
                "proximal stochastic gradients. lambda_a and lambda_i, where not given, are those "
                "of laprls; lambda_s is chosen on a tenth of the labelled rows. loss=square "
                "without lambda_s is laprls, without lambda_i too it is krr. See "
                "docs/semisupervised.md."
            ),
            "li2019vector",
            "",
            (
                Option(
                    "lambda_a",
                    "number",
                    "",
                    "[0, 1e+30]",
                    (
                        "weight of |W|^2, as `lambda_`, which it stands in for; chosen when "
                        "neither is given"
                    ),
                ),
                Option(
                    "lambda_i",
                    "number",
                    "",
                    "[0, 1e+30]",
                    "weight of the graph's term f'Lf/n^2; chosen when not given",
                ),
                Option(
                    "lambda_s",
                    "number",
                    "",
                    "[0, 1e+30]",
                    "weight of the singular values of W; chosen when not given",
                ),
                Option(
                    "theta",
                    "integer",
                    "0",
                    "[0, 1000000]",
                    "so many of the largest singular values are free; 0: the trace norm",
                ),
                Option(
                    "loss",
                    "hinge|hinge2|square|softmax|logistic",
                    "",
                    "",
                    "hinge for classes, square for numbers and several labels when not given",
                ),
                Option(
                    "pairs",
                    "integer",
                    "",
                    "[1, 1000000]",
                    "edges of the graph that a step draws; as many as `batch` when not given",
                ),
                Option(
                    "optimizer",
                    "sgd|adam|adadelta",
                    "sgd",
                    "",
                    "how steps follow from gradients; lambda_s is exact with sgd alone",
                ),
                Option(
                    "epochs",
                    "integer",
                    "",
                    "[1, 1000000]",
                    (
                        "visits of every labelled row; when not given 3 to 3,000, so that there "
                        "are about 3,000 steps"
                    ),
                ),
                Option(
                    "batch",
                    "integer",
                    "64",
                    "[1, 1000000]",
                    "labelled rows of a step",
                ),
                Option(
                    "rate",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "length of the steps; by the curvature of the loss with sgd when not given",
                ),
                Option(
                    "schedule",
                    "constant|step|cosine|warmup",
                    "cosine",
                    "",
                    "how the rate falls over the epochs",
                ),
                Option(
                    "k",
                    "integer",
                    "10",
                    "[1, 1000]",
                    "neighbours that a row names in the graph",
                ),
                Option(
                    "near",
                    "auto|exact|tree|descent",
                    "auto",
                    "",
                    (
                        "how they are found: all pairs, a k-d tree (exact too, for few columns), "
                        "or nearest-neighbour descent (approximate); auto: by what it takes"
                    ),
                ),
                Option(
                    "edges",
                    "heat|binary",
                    "heat",
                    "",
                    "weights of edges: exp(-|x-y|^2/(2 width^2)), or 1",
                ),
                Option(
                    "width",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "of heat weights; the median distance to the k-th neighbour when not given",
                ),
                Option(
                    "laplacian",
                    "combinatorial|normalized",
                    "combinatorial",
                    "",
                    "D - W, or I - D^(-1/2) W D^(-1/2)",
                ),
            ),
            ("regression", "classification", "multilabel"),
            "asked",
            True,
            False,
            True,
        ),
        "labelprop": Method(
            "labelprop",
            "labels carried over a graph of neighbours to rows without labels",
            (
                "Unlabelled rows come by `unlabeled`, or have an empty label or \"?\" in the data. "
                "Labels are carried over the graph of nearest neighbours of all rows, by distances "
                "of the encoded rows; then ridge regression on the map learns them from all rows, "
                "so that new rows can be predicted. lambda by leave-one-out unless `lambda_` is "
                "given. See docs/semisupervised.md."
            ),
            "zhu2003",
            "",
            (
                Option(
                    "method",
                    "harmonic|spreading",
                    "harmonic",
                    "",
                    (
                        "labels stay and others are the mean of their neighbours; or all give way, "
                        "by alpha"
                    ),
                ),
                Option(
                    "alpha",
                    "number",
                    "0.2",
                    "(0, 1)",
                    "method=spreading: the share that comes from the neighbours",
                ),
                Option(
                    "k",
                    "integer",
                    "10",
                    "[1, 1000]",
                    "neighbours that a row names in the graph",
                ),
                Option(
                    "near",
                    "auto|exact|tree|descent",
                    "auto",
                    "",
                    (
                        "how they are found: all pairs, a k-d tree (exact too, for few columns), "
                        "or nearest-neighbour descent (approximate); auto: by what it takes"
                    ),
                ),
                Option(
                    "edges",
                    "heat|binary",
                    "heat",
                    "",
                    "weights of edges: exp(-|x-y|^2/(2 width^2)), or 1",
                ),
                Option(
                    "width",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "of heat weights; the median distance to the k-th neighbour when not given",
                ),
            ),
            ("regression", "classification"),
            "asked",
            True,
            False,
            True,
        ),
        "selftrain": Method(
            "selftrain",
            "a classifier trained on its own sure predictions",
            (
                "Unlabelled rows come by `unlabeled`, or have an empty label or \"?\" in the data. "
                "Those that the base is sure of get its prediction for a label, and it is trained "
                "again. base is krr, svm or logistic with its options in quotes. See "
                "docs/semisupervised.md."
            ),
            "yarowsky1995",
            "",
            (
                Option(
                    "base",
                    "text",
                    "krr",
                    "",
                    "the classifier, one with probabilities, and its options: base=\"svm(C=1)\"",
                ),
                Option(
                    "threshold",
                    "number",
                    "0.75",
                    "[0, 1)",
                    "probability above which a row gets its predicted class for a label",
                ),
                Option(
                    "rounds",
                    "integer",
                    "10",
                    "[1, 1000]",
                    "times that labels are given, at most",
                ),
            ),
            ("classification",),
            "asked",
            True,
            False,
            False,
        ),
        "svm": Method(
            "svm",
            "support vector machine for classes",
            (
                "On features by dual coordinate descent and Newton steps, linear in the number of "
                "rows, or on the kernel matrix (map=exact) by sequential minimal optimisation. C "
                "is LIBSVM's; where it is not given it is chosen by cross-validation along a path "
                "of values."
            ),
            "cortes1995",
            "",
            (
                Option(
                    "C",
                    "number",
                    "",
                    "(0, inf)",
                    "weight of the losses; chosen by cross-validation when not given",
                ),
                Option(
                    "loss",
                    "hinge|hinge2",
                    "hinge",
                    "",
                    "hinge, or its square",
                ),
                Option(
                    "multi",
                    "ovr|ovo|crammer|gmnp",
                    "ovr",
                    "",
                    "several classes: one against the rest, pairs, or all in one (crammer, gmnp)",
                ),
                Option(
                    "intercept",
                    "yes|no",
                    "yes",
                    "",
                    "with a free intercept",
                ),
                Option(
                    "class_weights",
                    "equal|balanced",
                    "equal",
                    "",
                    "balanced: each class weighs the same in sum",
                ),
                Option(
                    "spectrum",
                    "asis|clip|flip|shift",
                    "asis",
                    "",
                    "map=exact and an indefinite kernel: what happens to negative eigenvalues",
                ),
                Option(
                    "tol",
                    "number",
                    "0.001",
                    "[1e-09, 1]",
                    "relative duality gap to stop at (map=exact: LIBSVM's eps)",
                ),
                Option(
                    "penalty",
                    "l2|l1",
                    "l2",
                    "",
                    (
                        "|w|^2 / 2, or the sum of |w|, which leaves features out: multi=crammer, "
                        "on few features"
                    ),
                ),
            ),
            ("classification", "multilabel"),
            "asked",
            False,
            False,
            False,
        ),
        "svr": Method(
            "svr",
            "support vector regression",
            (
                "Errors up to epsilon cost nothing, larger ones their excess. On features by dual "
                "coordinate descent and Newton steps, or on the kernel matrix (map=exact) by "
                "sequential minimal optimisation. C and epsilon are LIBSVM's."
            ),
            "drucker1997",
            "",
            (
                Option(
                    "C",
                    "number",
                    "",
                    "(0, inf)",
                    "weight of the losses; chosen by cross-validation when not given",
                ),
                Option(
                    "epsilon",
                    "number",
                    "",
                    "[0, inf)",
                    (
                        "errors up to this cost nothing; a tenth of the targets' deviation when "
                        "not given"
                    ),
                ),
                Option(
                    "intercept",
                    "yes|no",
                    "yes",
                    "",
                    "with a free intercept",
                ),
                Option(
                    "spectrum",
                    "asis|clip|flip|shift",
                    "asis",
                    "",
                    "map=exact and an indefinite kernel: what happens to negative eigenvalues",
                ),
                Option(
                    "tol",
                    "number",
                    "0.001",
                    "[1e-09, 1]",
                    "relative duality gap to stop at (map=exact: LIBSVM's eps)",
                ),
            ),
            ("regression",),
            "",
            False,
            False,
            False,
        ),
        "kgd": Method(
            "kgd",
            "kernel regression by gradient descent; classes through -1/+1 targets",
            (
                "On the kernel matrix (map=exact), of a positive definite kernel. Stopping early "
                "regularises: the number of steps is chosen by cross-validation. A rate at or "
                "above 2 / largest eigenvalue diverges and is refused."
            ),
            "yao2007",
            "",
            (
                Option(
                    "steps",
                    "integer",
                    "",
                    "[1, 10000000]",
                    (
                        "number of steps, in sample mode passes over the rows; chosen by "
                        "cross-validation when not given"
                    ),
                ),
                Option(
                    "rate",
                    "number",
                    "",
                    "(0, inf]",
                    (
                        "step size; one over the largest eigenvalue of the kernel matrix when not "
                        "given, in sample mode four over it"
                    ),
                ),
                Option(
                    "mode",
                    "batch|sample",
                    "batch",
                    "",
                    "all coefficients at once, or row by row",
                ),
            ),
            ("regression", "classification", "multilabel"),
            "asked",
            False,
            False,
            False,
        ),
        "logistic": Method(
            "logistic",
            "logistic regression; softmax for more than two classes",
            (
                "For classes, on the features of any map but exact; has probabilities. Minimises "
                "the mean log loss + lambda |w|^2; C of other programs is 1 / (2 n lambda). lambda "
                "by cross-validation (5 folds, or those of `select=cv`) on a sample of the rows, "
                "unless given here or with `lambda_`."
            ),
            "lin2008",
            "",
            (
                Option(
                    "lambda",
                    "number",
                    "",
                    "(0, 1e+15]",
                    "regularisation, as `lambda_`; by cross-validation when not given",
                ),
                Option(
                    "class_weights",
                    "equal|balanced",
                    "equal",
                    "",
                    "balanced: every class counts as much as any other",
                ),
                Option(
                    "intercept",
                    "yes|no",
                    "yes",
                    "",
                    "a constant in the score",
                ),
                Option(
                    "tol",
                    "number",
                    "0.001",
                    "[1e-07, 0.1]",
                    "ends where the gradient is this much of the one at zero weights",
                ),
            ),
            ("classification", "multilabel"),
            "always",
            False,
            False,
            False,
        ),
        "askl": Method(
            "askl",
            "automated spectral kernel learning: trained frequencies",
            (
                "For numbers and classes; the features are those of map=learned, its frequencies "
                "start from the spectral measure of the kernel (one stationary kernel, or a "
                "product of such) and are trained with the weights by mini-batches. A tenth of the "
                "rows is held out to choose the epoch. Where the loss is the square, the weights "
                "are then solved for as by krr, with `lambda_` by leave-one-out. The model has a "
                "map of its own, whose frequencies other learners take with "
                "map=learned(file=MODEL). loss=softmax has probabilities by itself; with other "
                "losses they are calibrated on the rows held out. form=mixture learns weights, "
                "means and deviations of a spectral mixture by the evidence of at most 1,000 rows "
                "instead; the kernel spectral(file=MODEL) is that mixture."
            ),
            "li2020",
            "",
            (
                Option(
                    "D",
                    "integer",
                    "",
                    "[1, 10000000]",
                    "number of features; chosen from the data when not given",
                ),
                Option(
                    "preset",
                    "askl|sk|nsk|skl|nskl|joint",
                    "askl",
                    "",
                    (
                        "what spectrum, train, norm, lambda_b and loss are where they are not "
                        "given: all of it; random features; learned ones with |w|^2, each on a "
                        "stationary (sk, skl) or a non-stationary spectrum (nsk, nskl); skl with "
                        "the hinge loss"
                    ),
                ),
                Option(
                    "lambda_a",
                    "number",
                    "1e-05",
                    "[0, 1000000]",
                    "penalty of the weights",
                ),
                Option(
                    "lambda_b",
                    "number",
                    "0.001",
                    "[0, 1000000]",
                    "penalty of the features, on rows with and without labels",
                ),
                Option(
                    "spectrum",
                    "stationary|nonstationary",
                    "nonstationary",
                    "",
                    "one set of frequencies, or one for each of the two terms",
                ),
                Option(
                    "sines",
                    "yes|no",
                    "no",
                    "",
                    "cos and sin pairs instead of cosines with phases",
                ),
                Option(
                    "train",
                    "yes|no",
                    "yes",
                    "",
                    "train the frequencies; else the weights alone",
                ),
                Option(
                    "norm",
                    "frobenius|trace|l1|group",
                    "trace",
                    "",
                    (
                        "lambda_a is of |w|^2, of the trace norm, of the sum of |w_ij|, or of that "
                        "of the lengths of a feature's weights"
                    ),
                ),
                Option(
                    "loss",
                    "hinge|hinge2|square|softmax|logistic",
                    "",
                    "",
                    "softmax for classes, square for numbers when not given",
                ),
                Option(
                    "optimizer",
                    "sgd|adam|adadelta",
                    "adam",
                    "",
                    "how steps follow from gradients",
                ),
                Option(
                    "epochs",
                    "integer",
                    "",
                    "[1, 1000000]",
                    (
                        "visits of every row, at most; when not given 10 to 200, so that there are "
                        "about 20,000 steps"
                    ),
                ),
                Option(
                    "batch",
                    "integer",
                    "32",
                    "[1, 1000000]",
                    "rows of a step",
                ),
                Option(
                    "rate",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "length of the steps; the optimiser's own when not given",
                ),
                Option(
                    "schedule",
                    "constant|step|cosine|warmup",
                    "cosine",
                    "",
                    "how the rate falls over the epochs",
                ),
                Option(
                    "patience",
                    "integer",
                    "20",
                    "[0, 1000000]",
                    "epochs without a better held-out error before the end; 0: all epochs",
                ),
                Option(
                    "clip",
                    "number",
                    "0",
                    "[0, 1e+30]",
                    "gradients are made no longer than that; 0: as they are",
                ),
                Option(
                    "refit",
                    "no|yes",
                    "",
                    "",
                    (
                        "solve for the weights by ridge regression in the end; when not given: "
                        "with the square loss"
                    ),
                ),
                Option(
                    "report",
                    "integer",
                    "0",
                    "[0, 1000000000]",
                    (
                        "steps between two lines with loss and held-out error in the log (-vv); 0: "
                        "one an epoch"
                    ),
                ),
                Option(
                    "frequency_rate",
                    "number",
                    "",
                    "(0, 1e+30]",
                    (
                        "length of the steps of frequencies, in units of their typical size at the "
                        "start; when not given 20 times the rate with adam, and with others the "
                        "rate itself in no unit"
                    ),
                ),
                Option(
                    "form",
                    "free|mixture",
                    "free",
                    "",
                    (
                        "each frequency is trained, or the spectral mixture that all are drawn "
                        "from; with it everything else is as in the preset sk"
                    ),
                ),
                Option(
                    "q",
                    "integer",
                    "",
                    "[1, 256]",
                    (
                        "components of the mixture; when not given those of the kernel spectral, "
                        "else 4"
                    ),
                ),
            ),
            ("regression", "classification", "multilabel"),
            "always",
            True,
            True,
            False,
        ),
        "deep": Method(
            "deep",
            "stacked layers of random Fourier features, trained, in float or in a few bits",
            (
                "For numbers and classes. Cosines and sines of one layer are the inputs of the "
                "next; the frequencies of the first start from the spectral measure of the kernel "
                "(one stationary kernel, or a product of such), those of the others are Gaussian, "
                "and all are trained with the weights by mini-batches. A tenth of the rows is held "
                "out to choose the epoch. With bits below 32 the layers are trained as they will "
                "be used: weights and features are whole numbers of so many bits, and the model "
                "has and uses nothing else. `memory` gives the width from a budget of bits. With "
                "bits=32 and the square loss the weights are then solved for as by krr. "
                "loss=softmax has probabilities by itself; with other losses they are calibrated "
                "on the rows held out."
            ),
            "luo2022",
            "",
            (
                Option(
                    "layers",
                    "integer",
                    "3",
                    "[1, 12]",
                    "layers of features",
                ),
                Option(
                    "width",
                    "integer",
                    "",
                    "[1, 1000000]",
                    (
                        "frequencies of a layer, which has twice as many features; 128 when "
                        "neither it nor memory is given"
                    ),
                ),
                Option(
                    "bits",
                    "integer",
                    "32",
                    "[1, 32]",
                    "of weights and features: 32, or whole numbers of 8, 4, 2 or 1",
                ),
                Option(
                    "memory",
                    "number",
                    "",
                    "(0, 1e+15]",
                    "in place of width: bits that the weights between the layers may take",
                ),
                Option(
                    "lambda_a",
                    "number",
                    "1e-05",
                    "[0, 1000000]",
                    "penalty of the weights of the last layer",
                ),
                Option(
                    "spread",
                    "number",
                    "1.2",
                    "(0, 1000000]",
                    "deviation of a phase at the start, in layers behind the first",
                ),
                Option(
                    "loss",
                    "hinge|hinge2|square|softmax|logistic",
                    "",
                    "",
                    "softmax for classes, square for numbers when not given",
                ),
                Option(
                    "optimizer",
                    "sgd|adam|adadelta",
                    "adam",
                    "",
                    "how steps follow from gradients",
                ),
                Option(
                    "epochs",
                    "integer",
                    "",
                    "[1, 1000000]",
                    (
                        "visits of every row, at most; when not given 10 to 200, so that there are "
                        "about 20,000 steps"
                    ),
                ),
                Option(
                    "batch",
                    "integer",
                    "48",
                    "[1, 1000000]",
                    "rows of a step",
                ),
                Option(
                    "rate",
                    "number",
                    "",
                    "(0, 1e+30]",
                    (
                        "length of the steps; 0.01 with adam, the optimiser's own with others when "
                        "not given"
                    ),
                ),
                Option(
                    "schedule",
                    "constant|step|cosine|warmup",
                    "cosine",
                    "",
                    "how the rate falls over the epochs",
                ),
                Option(
                    "patience",
                    "integer",
                    "20",
                    "[0, 1000000]",
                    "epochs without a better held-out error before the end; 0: all epochs",
                ),
                Option(
                    "clip",
                    "number",
                    "0",
                    "[0, 1e+30]",
                    "gradients are made no longer than that; 0: as they are",
                ),
                Option(
                    "refit",
                    "no|yes",
                    "",
                    "",
                    (
                        "solve for the weights by ridge regression in the end; when not given: "
                        "with the square loss"
                    ),
                ),
                Option(
                    "report",
                    "integer",
                    "0",
                    "[0, 1000000000]",
                    (
                        "steps between two lines with loss and held-out error in the log (-vv); 0: "
                        "one an epoch"
                    ),
                ),
                Option(
                    "frequency_rate",
                    "number",
                    "",
                    "(0, 1e+30]",
                    (
                        "length of the steps of frequencies, in units of their typical size at the "
                        "start; when not given the rate with adam, and with others the rate itself "
                        "in no unit"
                    ),
                ),
            ),
            ("regression", "classification", "multilabel"),
            "always",
            False,
            True,
            False,
        ),
        "net": Method(
            "net",
            "a network, trained: convolutions for images, layers for tables",
            (
                "For numbers and classes. The architecture is named: convnet(3-32-32-32) is four "
                "convolutions, whose input channels are the numbers, each with batch "
                "normalisation, ReLU and a maximum over 2 x 2; resnet(20) has residual blocks; "
                "mlp(64-64) takes any columns. Images come as an .npy of n x h x w x c numbers, or "
                "as rows of h w c numbers with `image`; they are scaled by channel, and bytes stay "
                "bytes in memory. A tenth of the rows is held out to choose the epoch. With the "
                "square loss the weights are then solved for as by krr. loss=softmax has "
                "probabilities by itself; with other losses they are calibrated on the rows held "
                "out. The map network(file=MODEL) has the trained features, for any learner, and "
                "for this one to go on from."
            ),
            "he2016",
            "",
            (
                Option(
                    "arch",
                    "text",
                    "",
                    "",
                    (
                        "the network: \"convnet(3-32-32-32)\" (channels that come into each "
                        "convolution), \"resnet(20)\", \"mlp(64-64)\"; when not given four "
                        "convolutions of 32 channels for images, mlp(64-64) for tables"
                    ),
                ),
                Option(
                    "decay",
                    "number",
                    "0.0005",
                    "[0, 1000000]",
                    "penalty decay/2 |w|^2 of the weights of all layers",
                ),
                Option(
                    "momentum",
                    "number",
                    "",
                    "[0, 1)",
                    "of optimizer=sgd; 0.9 when not given",
                ),
                Option(
                    "loss",
                    "hinge|hinge2|square|softmax|logistic",
                    "",
                    "",
                    "softmax for classes, square for numbers when not given",
                ),
                Option(
                    "optimizer",
                    "sgd|adam|adadelta",
                    "adam",
                    "",
                    "how steps follow from gradients",
                ),
                Option(
                    "epochs",
                    "integer",
                    "",
                    "[1, 1000000]",
                    (
                        "visits of every row, at most; when not given 10 to 200, so that there are "
                        "about 20,000 steps"
                    ),
                ),
                Option(
                    "batch",
                    "integer",
                    "64",
                    "[1, 1000000]",
                    "rows of a step",
                ),
                Option(
                    "rate",
                    "number",
                    "",
                    "(0, 1e+30]",
                    (
                        "length of the steps; 0.005 with adam, the optimiser's own with others "
                        "when not given"
                    ),
                ),
                Option(
                    "schedule",
                    "constant|step|cosine|warmup",
                    "cosine",
                    "",
                    "how the rate falls over the epochs",
                ),
                Option(
                    "patience",
                    "integer",
                    "20",
                    "[0, 1000000]",
                    "epochs without a better held-out error before the end; 0: all epochs",
                ),
                Option(
                    "clip",
                    "number",
                    "0",
                    "[0, 1e+30]",
                    "gradients are made no longer than that; 0: as they are",
                ),
                Option(
                    "refit",
                    "no|yes",
                    "",
                    "",
                    (
                        "solve for the weights by ridge regression in the end; when not given: "
                        "with the square loss"
                    ),
                ),
                Option(
                    "report",
                    "integer",
                    "0",
                    "[0, 1000000000]",
                    (
                        "steps between two lines with loss and held-out error in the log (-vv); 0: "
                        "one an epoch"
                    ),
                ),
            ),
            ("regression", "classification", "multilabel"),
            "always",
            False,
            True,
            False,
        ),
        "mkl": Method(
            "mkl",
            "several kernels, weighed and summed (`kernels`), under krr or svm",
            (
                "Weights are not negative, sum to one and belong to kernels of unit mean diagonal. "
                "method is one of the weighings, and takes its options too: mkl(method=easymkl, "
                "lambda=0.2). The sum itself is regularised by `lambda_`, as under its base alone. "
                "`map` takes one map for all kernels, or as many as kernels, with ';' between "
                "them. Held-out errors of the sum, of the average and of single kernels are "
                "reported, unless `select=none`."
            ),
            "gonen2011",
            "",
            (
                Option(
                    "method",
                    "text",
                    "alignment",
                    "",
                    "how the kernels are weighed: one of the weighings, whose options go here too",
                ),
                Option(
                    "base",
                    "krr|svm",
                    "krr",
                    "",
                    "learner on the sum",
                ),
                Option(
                    "C",
                    "number",
                    "",
                    "(0, inf)",
                    "base=svm: weight of the losses; by cross-validation when not given",
                ),
                Option(
                    "multi",
                    "ovr|ovo|crammer|gmnp",
                    "ovr",
                    "",
                    "base=svm: what it does with several classes",
                ),
            ),
            ("regression", "classification", "multilabel"),
            "asked",
            False,
            False,
            False,
        ),
    },
    "criteria": {
        "loo": Method(
            "loo",
            "exact leave-one-out, in closed form",
            (
                "Leave-one-out error of kernel ridge regression, the least-squares support vector "
                "machine: share of wrong classes, or root mean square."
            ),
            "",
            "",
            (
                Option(
                    "lambda",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "regularisation; the best of a path when not given",
                ),
                Option(
                    "intercept",
                    "yes|no",
                    "yes",
                    "",
                    "an intercept that is not regularised; without one targets are centred",
                ),
            ),
        ),
        "cv": Method(
            "cv",
            "k-fold cross-validation",
            (
                "Rows of one `group` stay in one fold; classes are spread evenly. In train, lambda "
                "is chosen by the same number of folds on all rows, which costs as many fits."
            ),
            "",
            "",
            (
                Option(
                    "k",
                    "integer",
                    "5",
                    "[2, 1000]",
                    "number of folds",
                ),
                Option(
                    "lambda",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "regularisation; the best of a path when not given",
                ),
                Option(
                    "intercept",
                    "yes|no",
                    "yes",
                    "",
                    "an intercept that is not regularised; without one targets are centred",
                ),
            ),
        ),
        "gcv": Method(
            "gcv",
            "generalised cross-validation",
            (
                "Mean square of the residuals of kernel ridge regression over the squared share of "
                "degrees of freedom that is left. The smaller the better."
            ),
            "craven1979",
            "",
            (
                Option(
                    "lambda",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "regularisation; the best of a path when not given",
                ),
            ),
        ),
        "evidence": Method(
            "evidence",
            "log marginal likelihood of a Gaussian process",
            (
                "How likely the targets are under a Gaussian process with the kernel, its noise n "
                "lambda and its scale chosen for the best. The larger the better."
            ),
            "rasmussen2006",
            "",
            (
                Option(
                    "lambda",
                    "number",
                    "",
                    "(0, 1e+30]",
                    "regularisation; the best of a path when not given",
                ),
                Option(
                    "scale",
                    "free|one",
                    "free",
                    "",
                    "the variance of the process: the best one, or 1",
                ),
            ),
        ),
        "sm": Method(
            "sm",
            "spectral measure of the labels",
            (
                "y'N^r y / n with the kernel matrix divided by its trace, N = K / Tr K: how much "
                "of the labels lies along the large eigenvalues. For classes. A few products of "
                "the matrix with a vector a kernel: no decomposition, no folds. norm=sum, the "
                "definition as printed, favours narrow kernels (the identity has n^-r, as the "
                "ideal kernel does): docs/results/selection.md."
            ),
            "li2017spectral",
            "",
            (
                Option(
                    "r",
                    "integer",
                    "3",
                    "[1, 16]",
                    "the power of the eigenvalues",
                ),
                Option(
                    "balanced",
                    "yes|no",
                    "yes",
                    "",
                    "labels n/(2 n+) and -n/(2 n-) instead of 1 and -1",
                ),
                Option(
                    "h",
                    "number",
                    "",
                    "[0, 1]",
                    "instead of a power, leave out eigenvalues up to this (costs a decomposition)",
                ),
                Option(
                    "norm",
                    "sum|trace",
                    "trace",
                    "",
                    "N is the matrix over its trace, or over its sum",
                ),
                Option(
                    "classes",
                    "ovr|ideal",
                    "ovr",
                    "",
                    "several classes: mean over one against the rest, or the ideal kernel",
                ),
            ),
        ),
        "kta": Method(
            "kta",
            "kernel target alignment",
            (
                "The cosine of the angle between the kernel matrix and that of the labels. For two "
                "classes of different size ckta is the better one."
            ),
            "cristianini2001",
            "",
            (
                Option(
                    "classes",
                    "ovr|ideal",
                    "ovr",
                    "",
                    "several classes: mean over one against the rest, or the ideal kernel",
                ),
            ),
        ),
        "ckta": Method(
            "ckta",
            "centred kernel target alignment",
            "Alignment of the kernel matrix and the labels, both less their means.",
            "cortes2012",
            "",
            (
                Option(
                    "classes",
                    "ovr|ideal",
                    "ovr",
                    "",
                    "several classes: mean over one against the rest, or the ideal kernel",
                ),
            ),
        ),
        "polarization": Method(
            "polarization",
            "kernel polarization y'Ky",
            "The numerator of kta alone. It grows with the kernel: compare kernels of one scale.",
            "baram2005",
            "",
            (
                Option(
                    "classes",
                    "ovr|ideal",
                    "ovr",
                    "",
                    "several classes: mean over one against the rest, or the ideal kernel",
                ),
            ),
        ),
        "fsm": Method(
            "fsm",
            "feature space-based kernel matrix evaluation",
            (
                "Spread of the classes along the line through their means, over the distance of "
                "the means. Several classes: mean over one against the rest. The smaller the "
                "better."
            ),
            "nguyen2008",
            "",
            (),
        ),
        "er": Method(
            "er",
            "eigenvalue ratio, main over tail",
            (
                "Sum of the t largest eigenvalues over the sum of the others. Labels do not "
                "matter: of kernels that differ in width the widest wins, so it ranks kernels of "
                "other kinds, or serves beside an error."
            ),
            "liu2015",
            "",
            (
                Option(
                    "t",
                    "integer",
                    "",
                    "[1, 1000000000]",
                    "main eigenvalues; the root of the rows when not given",
                ),
            ),
        ),
        "tail": Method(
            "tail",
            "sum of the tail eigenvalues",
            (
                "Trace less the theta largest eigenvalues: the part of the local Rademacher "
                "complexity that depends on the kernel. Labels do not matter: compare kernels of "
                "one scale; of widths the widest wins."
            ),
            "bartlett2005",
            "",
            (
                Option(
                    "theta",
                    "integer",
                    "",
                    "[0, 1000000000]",
                    "eigenvalues left out; the root of the rows when not given",
                ),
            ),
        ),
    },
    "weighings": {
        "average": Method(
            "average",
            "all kernels the same weight",
            "",
            "gonen2011",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
            ),
        ),
        "easymkl": Method(
            "easymkl",
            "by the margin between the classes",
            "",
            "aiolli2015",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "lambda",
                    "number",
                    "0.1",
                    "(0, 1]",
                    "from the margin (0) to the distance of the classes' means (1)",
                ),
            ),
        ),
        "pwmk": Method(
            "pwmk",
            "by the accuracy of each kernel alone",
            "",
            "tanabe2008",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "delta",
                    "number",
                    "0.5",
                    "[0, 1]",
                    "share of the least accuracy that is taken off all",
                ),
            ),
        ),
        "alignment": Method(
            "alignment",
            "in proportion to kernel target alignment",
            "",
            "cristianini2001",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
            ),
        ),
        "centered": Method(
            "centered",
            "the sum of best centred alignment",
            "",
            "cortes2012",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
            ),
        ),
        "lp": Method(
            "lp",
            "ridge regression with a p-norm of the weights",
            "",
            "kloft2011",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "p",
                    "number",
                    "2",
                    "[1, 64]",
                    "norm of the weights; 1 is sparse, large is the average",
                ),
            ),
        ),
        "mcmkl": Method(
            "mcmkl",
            "the machine of all classes with a p-norm of the weights",
            (
                "With base=svm and multi=crammer the machine that weighs is also the one that is "
                "trained on the sum."
            ),
            "zien2007",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "p",
                    "number",
                    "2",
                    "[1, 64]",
                    "norm of the weights; 1 is sparse, large is the average",
                ),
                Option(
                    "cost",
                    "number",
                    "",
                    "(0, inf)",
                    (
                        "C of the machine that weighs; by cross-validation with the mean of the "
                        "kernels when not given"
                    ),
                ),
            ),
        ),
        "conv": Method(
            "conv",
            "lp on kernels divided by their tail eigenvalues",
            "",
            "li2018multi",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "p",
                    "number",
                    "2",
                    "[1, 64]",
                    "norm of the weights; 1 is sparse, large is the average",
                ),
                Option(
                    "theta",
                    "integer",
                    "",
                    "[0, 1000000000]",
                    (
                        "eigenvalues before the tail; the root of the rows when not given, on "
                        "features at most a quarter of a kernel's"
                    ),
                ),
            ),
        ),
        "smsd": Method(
            "smsd",
            (
                "mirror descent of the hinge loss with a penalty on the tails, which leaves "
                "kernels out"
            ),
            "",
            "li2018multi",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "theta",
                    "integer",
                    "",
                    "[0, 1000000000]",
                    (
                        "eigenvalues before the tail; the root of the rows when not given, on "
                        "features at most a quarter of a kernel's"
                    ),
                ),
                Option(
                    "alpha",
                    "number",
                    "",
                    "(0, 1000000000]",
                    "weight of the squared norm; 1/2 over the root of the rows when not given",
                ),
                Option(
                    "beta",
                    "number",
                    "",
                    "[0, 1000000000]",
                    (
                        "weight of the penalty that leaves kernels out; 1 over the root of the "
                        "rows when not given"
                    ),
                ),
                Option(
                    "epochs",
                    "integer",
                    "20",
                    "[1, 1000000]",
                    "most passes over the rows; fewer where little is left to gain",
                ),
            ),
        ),
        "ufo": Method(
            "ufo",
            "mirror descent of the hinge loss with one penalty for all kernels",
            "",
            "orabona2011",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "alpha",
                    "number",
                    "",
                    "(0, 1000000000]",
                    "weight of the squared norm; 1/2 over the root of the rows when not given",
                ),
                Option(
                    "beta",
                    "number",
                    "",
                    "[0, 1000000000]",
                    (
                        "weight of the penalty that leaves kernels out; 1 over the root of the "
                        "rows when not given"
                    ),
                ),
                Option(
                    "epochs",
                    "integer",
                    "20",
                    "[1, 1000000]",
                    "most passes over the rows; fewer where little is left to gain",
                ),
            ),
        ),
        "nsmkl": Method(
            "nsmkl",
            "alignment of tangent kernels of random depth and scale",
            "",
            "wang2024",
            "",
            (
                Option(
                    "normalize",
                    "yes|no",
                    "yes",
                    "",
                    "kernels of unit mean diagonal, so that their units do not matter",
                ),
                Option(
                    "split",
                    "equal|weight",
                    "equal",
                    "",
                    "features of the kernels: as many for each, or in proportion to the weights",
                ),
                Option(
                    "count",
                    "integer",
                    "2",
                    "[1, 200]",
                    "tangent kernels drawn where `kernels` gives none",
                ),
            ),
        ),
    },
    "solvers": {
        "ridge": Method(
            "ridge",
            "ridge regression on features: one pass, then Cholesky",
            (
                "Normal equations in float64 from float32 blocks; leave-one-out from one "
                "eigendecomposition. Used by krr with every map but exact."
            ),
            "hoerl1970",
            "",
            (),
        ),
        "dual": Method(
            "dual",
            "ridge regression on the kernel matrix: Cholesky",
            (
                "In float64; leave-one-out from one eigendecomposition, or above 2,048 rows from a "
                "few Cholesky factorisations, in float32 where lambda allows it, with the solution "
                "refined. Used by krr with map=exact."
            ),
            "saunders1998",
            "",
            (),
        ),
        "dcd": Method(
            "dcd",
            "dual coordinate descent with shrinking, for hinge and epsilon losses",
            (
                "Support vector machines on features, with a free intercept by the method of "
                "multipliers. Stops by the duality gap."
            ),
            "hsieh2008",
            "",
            (),
        ),
        "ssn": Method(
            "ssn",
            "semismooth Newton steps with the method of multipliers, for hinge and epsilon losses",
            (
                "Support vector machines on features, where coordinate descent would take long. "
                "Stops by the duality gap."
            ),
            "yan2020",
            "",
            (),
        ),
        "smo": Method(
            "smo",
            "support vector machines on the kernel matrix, by pairs of rows",
            (
                "Sequential minimal optimisation with second-order working sets and shrinking; a "
                "bound for each row, indefinite kernels too. Used by svm and svr with map=exact."
            ),
            "fan2005",
            "",
            (),
        ),
        "descent": Method(
            "descent",
            "gradient descent on dual coefficients",
            "All coefficients at once, or row by row (Gauss-Seidel). Used by kgd.",
            "yao2007",
            "",
            (),
        ),
        "krein": Method(
            "krein",
            "ridge regression in a Krein space: the stationary point",
            (
                "Signed features; one Bunch-Kaufman factorisation a lambda, exact leave-one-out. "
                "Used by krr with norm=krein."
            ),
            "ong2004",
            "",
            (),
        ),
        "newton": Method(
            "newton",
            "logistic regression on features: truncated Newton, preconditioned",
            (
                "Conjugate gradients on Newton's equations, a pass over the features each, with a "
                "Cholesky factor of the Hessian on a sample of the rows as preconditioner where "
                "that pays. Ends by the length of the gradient. Used by logistic."
            ),
            "lin2008",
            "",
            (),
        ),
        "crammer": Method(
            "crammer",
            "sequential dual method for the machine of Crammer and Singer",
            (
                "All classes in one machine, on features, with free intercepts by the method of "
                "multipliers. Stops by the duality gap."
            ),
            "keerthi2008",
            "",
            (),
        ),
        "crammer_l1": Method(
            "crammer_l1",
            "interior points for the machine of Crammer and Singer with an l1 penalty",
            (
                "On few features, exactly: a linear program. Stops by the duality gap. Learner: "
                "svm(multi=crammer, penalty=l1)."
            ),
            "wright1997",
            "",
            (),
        ),
        "hulls": Method(
            "hulls",
            "nearest points of the hulls of two classes, by pairs and conjugate gradients",
            (
                "Softened by a ridge; ends at a gap. On kernel matrices. Learner: "
                "mkl(method=easymkl)."
            ),
            "aiolli2015",
            "",
            (),
        ),
        "mirror": Method(
            "mirror",
            "mirror and sub-gradient descent, kernels weighed row by row",
            (
                "Multi-class hinge loss, squared norm over kernels of order near one, and a "
                "penalty that leaves kernels out. On kernel matrices or on features. Learners: "
                "mkl(method=smsd), mkl(method=ufo)."
            ),
            "li2018multi",
            "",
            (),
        ),
        "pcg": Method(
            "pcg",
            "ridge regression on features by preconditioned conjugate gradients",
            (
                "Needs no D x D numbers: passes over the features, kept or made again, 4 n D flops "
                "an output each; preconditioned by eigenvectors of a sample of the rows. Features "
                "of more than 8,192 rows and 64 MB, but kernel values at landmarks, are in 16 "
                "bits, and made once more for the last round where their errors matter. Used by "
                "krr where the normal equations do not fit into memory, or with solver=pcg."
            ),
            "frangella2023",
            "",
            (),
        ),
        "kernel_pcg": Method(
            "kernel_pcg",
            "ridge regression on a large kernel matrix by preconditioned conjugate gradients",
            (
                "Half of the kernel matrix in float32, above 32,000 rows in 16 bits, sums in "
                "float64; preconditioned by the Nystrom approximation of 1,000 to 1,500 rows "
                "through Cholesky factorisations. Used by krr with map=exact for many rows, or "
                "with solver=pcg."
            ),
            "rudi2017b",
            "",
            (),
        ),
        "multiclass": Method(
            "multiclass",
            (
                "machines of all classes at once on the kernel matrix, by rows and conjugate "
                "gradients"
            ),
            (
                "The hinge loss of Crammer and Singer, or squared losses of all pairs (GMNP); ends "
                "at a duality gap. Learners: svm(multi=crammer) and svm(multi=gmnp) with "
                "map=exact, mkl(method=mcmkl)."
            ),
            "crammer2001",
            "",
            (),
        ),
        "cg": Method(
            "cg",
            "conjugate gradients in an inner product, with an estimate of the condition number",
            (
                "Any operator that is self-adjoint in some inner product, with or without a "
                "preconditioner; several right sides together. Used by laprls."
            ),
            "hestenes1952",
            "",
            (),
        ),
        "propagate": Method(
            "propagate",
            "values carried over a graph: harmonic function, label spreading",
            "",
            "zhu2003",
            "",
            (),
        ),
    },
    "generators": {
        "arm": Method(
            "arm",
            "distance of a robot arm's hand from a point; smooth, strongly nonlinear",
            (
                "d joint angles of an arm of d links in space, after the kin8nm and kin40k data "
                "sets. The noise is the standard deviation added to the distance."
            ),
            "",
            "",
            (),
        ),
        "friedman": Method(
            "friedman",
            "Friedman's first function: five inputs matter, the others do not",
            "",
            "friedman1991",
            "",
            (),
        ),
        "spiral": Method(
            "spiral",
            "two classes on two spirals wound into each other",
            "",
            "",
            "",
            (
                Option(
                    "turns",
                    "number",
                    "2",
                    "(0, 1000]",
                    "turns of each arm",
                ),
            ),
        ),
        "checkerboard": Method(
            "checkerboard",
            "two classes on the fields of a board",
            "The noise moves the points after their field has been looked up.",
            "",
            "",
            (
                Option(
                    "cells",
                    "integer",
                    "4",
                    "[2, 100000]",
                    "fields along each side",
                ),
            ),
        ),
        "moons": Method(
            "moons",
            "two classes on two half circles",
            "",
            "",
            "",
            (),
        ),
        "sine": Method(
            "sine",
            "a sine on the unit interval",
            "",
            "",
            "",
            (
                Option(
                    "frequency",
                    "number",
                    "1",
                    "(0, 1000000]",
                    "periods in the unit interval",
                ),
            ),
        ),
        "blobs": Method(
            "blobs",
            "classes that are Gaussian clouds",
            "",
            "",
            "",
            (
                Option(
                    "classes",
                    "integer",
                    "3",
                    "[2, 1000]",
                    "number of classes",
                ),
                Option(
                    "separation",
                    "number",
                    "3",
                    "[0, 1000000]",
                    "standard deviation of the centres",
                ),
            ),
        ),
        "spline": Method(
            "spline",
            "a periodic spline of order q, for rates of convergence",
            (
                "With the kernel of order 1/gamma the source condition r holds for q = r/gamma + "
                "1/2. Odd and fractional orders are summed as a series of 4000 terms per row."
            ),
            "",
            "",
            (
                Option(
                    "q",
                    "number",
                    "6",
                    "(1, 32]",
                    "order: smoothness of the target; 2, 4, 6 and 8 are fast",
                ),
            ),
        ),
        "multilabel": Method(
            "multilabel",
            "several labels a row, or none: where a direction of the inputs is far out",
            (
                "For `task=multilabel`. The labels are the numbers from 1, | between them in CSV "
                "and commas in LIBSVM; about half of the rows have the first, a tenth the last. "
                "The noise is the standard deviation added before the comparison."
            ),
            "",
            "",
            (
                Option(
                    "labels",
                    "integer",
                    "6",
                    "[1, 52]",
                    "number of labels",
                ),
            ),
        ),
    },
    "fewshot": {
        "original": Method(
            "original",
            "gradient steps on all parameters",
            "",
            "",
            "",
            (),
        ),
        "pretrained": Method(
            "pretrained",
            "steps in the subspace of the path of one training task",
            "",
            "li2022",
            "",
            (),
        ),
        "well": Method(
            "well",
            "steps in the subspace of a training on all rows of the task's classes",
            "",
            "li2022",
            "",
            (),
        ),
        "meta": Method(
            "meta",
            "steps in a subspace that is learned over tasks",
            "",
            "luo2022",
            "",
            (),
        ),
        "first-order": Method(
            "first-order",
            "meta without second derivatives",
            "",
            "",
            "",
            (),
        ),
        "nearest": Method(
            "nearest",
            "the nearest support row, by pixels and by features",
            "",
            "",
            "",
            (),
        ),
        "matching": Method(
            "matching",
            "matching networks: attention over the support",
            "",
            "vinyals2016",
            "",
            (),
        ),
        "ridge": Method(
            "ridge",
            "kernel ridge regression on features of a trained network",
            "",
            "",
            "",
            (),
        ),
        "ntk": Method(
            "ntk",
            "kernel ridge regression with the tangent kernel on pixels",
            "",
            "jacot2018",
            "",
            (),
        ),
    },
}
