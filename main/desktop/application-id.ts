/** What the packages are known by to the system, as electron-builder.yml has it. */
export const applicationId = 'app.keyhearth.desktop';
