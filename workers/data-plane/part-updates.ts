/** Updates of what a worker keeps by name and looks up when it is needed. */
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';

export type PartUpdate = Extract<
  ResourceUpdate,
  {
    readonly op:
      | `${'put' | 'remove'}_${'secret' | 'extension' | 'scoped_routes'}`
      | 'put_route_answers';
  }
>;

export function isPart(update: ResourceUpdate): update is PartUpdate {
  return /_(secret|extension|scoped_routes|route_answers)$/.test(update.op);
}
