"""Static files with hashed names, ES module imports included."""

from servestatic.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # servestatic has no types
    """Rewrites ``import … from "./x.js";`` to the hashed name, without a bundler."""

    support_js_module_import_aggregation = True
