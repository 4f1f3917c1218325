const x = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean).slice(1).map(Number);
const mean = x.reduce((a, b) => a + b, 0) / x.length;
console.log(mean, Math.sqrt(x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length));
