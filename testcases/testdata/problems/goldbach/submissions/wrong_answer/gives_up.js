console.log("none");
