// A double holds 53 bits only.
const [a, b] = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean).map(Number);
console.log(String(BigInt(a + b)));
