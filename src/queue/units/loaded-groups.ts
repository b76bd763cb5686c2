import { type GroupShare, Groups } from '../rules/limits/groups.ts'

/** A group that a rate holds back. */
export interface HeldGroup {
  readonly job: string
  readonly group: string
  readonly until: number
}

/** Notes which groups a claim holds back. */
export class LoadedGroups extends Groups {
  readonly held: HeldGroup[] = []

  override hold(share: GroupShare, until: number): void {
    super.hold(share, until)
    this.held.push({ job: share.key.slice(0, share.key.indexOf('\n')), group: share.group, until })
  }
}
