throw new Error("as intended");
