import { Help } from 'commander'

const indent = 6
const narrowest = 30

/** Commander does not wrap a description that has less than 40 columns: a terminal would break it in the middle of words. */
export const helpLayout = {
  showGlobalOptions: true,
  minWidthToWrap: 20,
  formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    const width = helper.helpWidth ?? 80
    if (description === '' || width - termWidth - 4 >= narrowest)
      return Help.prototype.formatItem.call(helper, term, termWidth, description, helper)
    const lines = helper.boxWrap(description, width - indent).split('\n')
    return [`  ${term}`, ...lines.map((line) => `${' '.repeat(indent)}${line}`)].join('\n')
  },
}
