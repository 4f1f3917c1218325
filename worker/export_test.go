package worker

// FirstRest is for tests of it.
const FirstRest = firstRest
