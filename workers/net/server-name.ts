/** Server names that clients ask for, which may hold any byte but NUL. */

const OTHERS = /[^A-Za-z\d._-]/g;

/**
 * For log lines and headers: whatever stands in no host name is `_`, and the text says so. Chains,
 * rules and matchers see what the client sent, as in Envoy.
 */
export function shownServerName(name: string): string {
  const shown = name.replace(OTHERS, '_');
  return shown === name ? name : `invalid:${shown}`;
}
