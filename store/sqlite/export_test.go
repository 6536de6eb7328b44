package sqlite

// Driver is the driver of this build.
const Driver = driver
