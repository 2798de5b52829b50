/**
 * Variables of the environment that are named by a configuration; `process.env` inherits members
 * too.
 */
export function environmentVariable(name: string): string | undefined {
  return Object.hasOwn(process.env, name) ? process.env[name] : undefined;
}
