/** The commands that `sluice` takes in place of options, for help, completions and hints. */

export const COMMAND_SUMMARIES = [
  { name: 'check', summary: 'checks bootstraps and says what each would lose' },
  { name: 'explain', summary: 'says what becomes of a request, by a bootstrap or a server' },
  { name: 'top', summary: 'shows what a running server does, again and again' },
  { name: 'doctor', summary: 'says what of a machine and a bootstrap is not fit for a server' },
  { name: 'collect', summary: 'writes what a helper has to see into one archive without secrets' },
  { name: 'tap', summary: 'records requests or connections of a running server in a file' },
  { name: 'drain', summary: 'drains a running server and waits for the end' },
  { name: 'reverse-proxy', summary: 'runs a server that passes every request on to a target' },
  { name: 'example', summary: 'prints a complete bootstrap for a purpose' },
  {
    name: 'explain-field',
    summary: 'says what a field of a bootstrap means, its type and default',
  },
  { name: 'basic-auth', summary: 'makes a line of users for the filter basic_auth' },
  { name: 'init', summary: 'makes a filter in TypeScript, with a test that passes' },
  { name: 'features', summary: 'lists the extensions of the API: served or refused' },
  { name: 'completion', summary: 'prints completions for bash, zsh or fish' },
] as const;

export type CommandName = (typeof COMMAND_SUMMARIES)[number]['name'];
