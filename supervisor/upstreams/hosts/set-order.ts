/**
 * The order in which sets of hosts come into force: one that comes in steps is finished at once
 * where something else builds on it.
 */
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import { SharedSteps } from '../../loop/shared-steps.ts';

export class SetOrder {
  #underWay: SharedSteps<boolean> | undefined;

  *run(steps: Steps<boolean>): Steps<boolean> {
    const setting = new SharedSteps(steps);
    this.#underWay = setting;
    const isOther = yield* setting.result();
    if (this.#underWay === setting) this.#underWay = undefined;
    return isOther;
  }

  /** What is on its way is in force. */
  finish(): void {
    const setting = this.#underWay;
    this.#underWay = undefined;
    if (setting !== undefined) atOnce(setting.result());
  }
}
