package sqlite

// Driver is the driver of this build.
const Driver = driver

// LatestVersion is the schema version of this build.
const LatestVersion = latestVersion
