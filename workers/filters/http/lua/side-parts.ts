/** What one direction of a scripted stream is made with. */
import type { Struct } from '../../../../shared/text/dictionary.ts';
import type { FilterCallbacks } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { LoadedScript } from './loaded-script.ts';
import type { Wish } from './stream-handle.ts';

/** How a direction goes on; requests and responses differ in nothing else. */
export interface Direction {
  readonly isRequest: boolean;
  continueHeaders(): void;
  inject(data: Buffer, isEnd: boolean): void;
  injectTrailers(trailers: HeaderMap): void;
  pause(isPaused: boolean): void;
  refuseTooLarge(): void;
  respond(wish: Extract<Wish, { kind: 'respond' }>): void;
}

export interface SideParts {
  readonly script: LoadedScript;
  readonly callbacks: FilterCallbacks;
  readonly context: FilterContext;
  readonly filterName: string;
  readonly filterContext: Struct | undefined;
  countError(): void;
  log(text: string): void;
  drain(): void;
  hasCluster(name: string): boolean;
  /** Too many calls are on their way whose responses nobody waits for. */
  hasTooManyCalls(): boolean;
  wallUs(): number;
}
