/** Requests that wait for routes which are fetched when they are wanted. */
import type { RoutesNotice } from '../../../shared/messages/worker-notices.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import type { NamedRoutes, NamedScopes } from '../../resolved/resolved-bootstrap.ts';
import type { NamedResources } from './named-resources.ts';

export interface WantedRoutesOptions {
  readonly routes: NamedResources<NamedRoutes>;
  readonly scopes: NamedResources<NamedScopes>;
  readonly apply: (updates: readonly ResourceUpdate[]) => Promise<unknown>;
}

export class WantedRoutes {
  readonly #options: WantedRoutesOptions;
  /** Tickets of requests whose routes were asked for. */
  readonly #answers: number[] = [];

  constructor(options: WantedRoutesOptions) {
    this.#options = options;
  }

  /** The request hears once, when what there is for it is in force. */
  heard({ wanted, ticket }: RoutesNotice): void {
    const { routes, scopes } = this.#options;
    const answered = (): void => this.#answer(ticket);
    if (wanted.kind === 'scope') scopes.wanted(wanted.scopes, wanted.routes, answered);
    else routes.wanted(wanted.routes, wanted.host, answered);
  }

  /** Answers of one turn of the loop travel together. */
  #answer(ticket: number): void {
    this.#answers.push(ticket);
    if (this.#answers.length > 1) return;
    setImmediate(() => {
      const tickets = this.#answers.splice(0);
      void this.#options.apply([{ op: 'put_route_answers', tickets }]);
    });
  }
}
