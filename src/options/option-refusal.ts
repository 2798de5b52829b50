/** The one error that a wrong command line causes. */

/**
 * With `argument`, the word or option that could not be read (Envoy's PARSE ERROR form);
 * without, the message is the whole line.
 */
export class OptionRefusal extends Error {
  readonly code = 'option_refused';
  readonly argument: string | undefined;
  readonly suggestion: string | undefined;

  constructor(message: string, argument?: string, suggestion?: string) {
    super(message);
    this.argument = argument;
    this.suggestion = suggestion;
  }
}
