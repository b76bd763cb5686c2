throw new Error('this module is broken')
