// Histograms of a bounded number for discreet-device.js: the tree of local/tree.py, one random level a report.
//   const metric = await load(envelope, { key, mechanisms: HISTOGRAM });
import { checkMember, checkRange, must, SHAPES, whole } from "./discreet-checks.js";
import { DESIGNS, list, MECHANISMS, ratio, refuse } from "./discreet-device.js";

/** Return the number of nodes of each level, from the one below the root to the bins. */
function levelSizes(bins, branch) {
  const sizes = [bins];
  while (sizes[0] > branch) sizes.unshift(Math.ceil(sizes[0] / branch));
  return sizes;
}

SHAPES.histogram = ["low high bins epsilon branch levels", (given) => {
  const { bins, branch, levels } = given;
  checkRange(given);
  whole(bins, "bins", 2, 2048);
  whole(branch, "branch", 2, bins);
  const sizes = levelSizes(bins, branch), fields = (one) => Object.keys(one ?? {}).sort().join(" ");
  must(Array.isArray(levels) && levels.length === sizes.length && levels.every((one) => fields(one) === "member parameter"),
    "the parameters of a histogram name a member and its parameter for every level");
  levels.forEach(({ member, parameter }, i) => {
    must(member !== "apart", "the member of the family, or its parameter, is not known to this release");
    checkMember(member, sizes[i], parameter);
  });
  must(levels.every(({ member }) => member !== "subset"), "the levels of a histogram report numbers, not subsets");
}];

/** Return how many outputs a member has. */
function outputsOf(member, options, parameter) {
  if (member === "hadamard") return 2 ** options.toString(2).length;
  const [inside, outside] = DESIGNS[member](options, parameter);
  return inside + outside;
}

/** All mechanisms of discreet-device, and histograms. */
export const HISTOGRAM = {
  ...MECHANISMS,
  histogram({ low, high, bins, epsilon, branch, levels }) {
    const [from, to] = [low, high].map((text) => { const [a, b] = ratio(text); return Number(a) / Number(b); });
    const sizes = levelSizes(bins, branch), starts = [0];
    const draws = levels.map(({ member, parameter }, i) => {
      starts.push(starts[i] + outputsOf(member, sizes[i], parameter));
      return MECHANISMS.choice({ options: sizes[i], member, parameter, epsilon });
    });
    return (value, bits) => {
      if (value !== +value) refuse("a value must be a number, or a list of numbers, none of them NaN");
      const part = (Math.min(Math.max(value, from), to) - from) / (to - from);
      const bin = Math.min(Math.floor(part * bins), bins - 1), level = bits.below(levels.length);
      // Every level is drawn, so that the work does not depend on which one is sent.
      const reports = list(levels.length, (i) => {
        const node = Math.floor(bin / branch ** (levels.length - 1 - i));
        return starts[i] + draws[i](node, bits);
      });
      return reports[level];
    };
  },
};
