const [n, ...parents] = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean).map(Number);
const children = Array.from({ length: n + 1 }, () => []);
parents.forEach((parent, i) => children[parent].push(i + 2));
const depth = (node) => children[node].reduce((deepest, child) => Math.max(deepest, depth(child)), 0) + 1;
console.log(depth(1));
