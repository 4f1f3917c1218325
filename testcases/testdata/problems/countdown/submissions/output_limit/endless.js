const line = Buffer.alloc(1000, "1");
for (;;) require("fs").writeSync(1, line);
