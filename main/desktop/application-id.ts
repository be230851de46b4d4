/** The packages' application id, as in electron-builder.yml. */
export const applicationId = 'app.keyhearth.desktop';
