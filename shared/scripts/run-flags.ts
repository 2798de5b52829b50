/** What the runtime must be told for run-module.ts. */
export const RUN_MODULE_FLAGS: readonly string[] = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
];
