/** The one error that a wrong command line causes. */

/**
 * With `argument`, the word or option that could not be read (Envoy's PARSE ERROR form);
 * without, the message is the whole line.
 */
export class OptionRefusal extends Error {
  readonly code = 'option_refused';
  readonly argument: string | undefined;
  readonly suggestion: string | undefined;

  /** The words that would have been right, where there are few. */
  readonly choices: readonly string[];

  constructor(
    message: string,
    argument?: string,
    suggestion?: string,
    choices: readonly string[] = [],
  ) {
    super(message);
    this.choices = choices;
    this.argument = argument;
    this.suggestion = suggestion;
  }
}

/** A word that is none of a few. */
export function wrongChoice(message: string, choices: readonly string[]): OptionRefusal {
  return new OptionRefusal(message, undefined, undefined, choices);
}
