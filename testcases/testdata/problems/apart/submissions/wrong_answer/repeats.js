const n = Number(require("fs").readFileSync(0, "utf8"));
console.log(Array.from({ length: n }, (_, i) => (i % 2 ? 1 : n)).join(" "));
