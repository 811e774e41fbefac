"""Table of the fields of a registry entry: section, tier, source, type and allowed values of each.

The registry is OpenDP's registry of deployments of differential privacy. Source of a field:

    source     where its value comes from
    derived    the ledger, its schemas and the documentation; a few also use words such as `unit`
    drafted    the same; the steward's words replace the draft
    words      the steward alone
"""

from __future__ import annotations

from ..frozen import frozen

STATED = ("words", "drafted")
"""Sources of fields that the steward may state."""
NOT_STATED = "not stated by the steward"
"""Text of a field that only the steward knows and that was not stated."""


@frozen
class RegistryField:
    """One field: section and name, tier (1 to 3, 0 for none), source, type and allowed values.

    `allowed` is empty if any value is allowed. `required` says that an entry must have the field.
    """

    section: str
    name: str
    tier: int
    source: str
    type: str = "text"
    allowed: tuple[str, ...] = ()
    required: bool = False

    @property
    def path(self) -> str:
        """Section and name."""
        return f"{self.section}.{self.name}"


_PRODUCTS = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
_SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
_VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
_MODELS = ("Local", "Central", "Shuffle", "Federated", "Varies")
_RELEASES = ("One release", "Many releases")
_DATA = ("Static", "Dynamic")
_ACCESS = ("Interactive", "Non-interactive")

FIELDS: tuple[RegistryField, ...] = (
    RegistryField("basic", "name", 1, "drafted", required=True),
    RegistryField("basic", "data_curators", 1, "words", "list", required=True),
    RegistryField("basic", "intended_use", 1, "words", required=True),
    RegistryField("basic", "data_product_type", 1, "derived", allowed=_PRODUCTS, required=True),
    RegistryField("basic", "data_product_region", 1, "words", required=True),
    RegistryField("basic", "description", 1, "words", required=True),
    RegistryField("basic", "publication_date", 1, "derived", "date", required=True),
    RegistryField("basic", "data_product_sector", 1, "words", allowed=_SECTORS),
    RegistryField("dp_variant", "variant_name", 2, "derived", allowed=_VARIANTS),
    RegistryField("dp_variant", "data_domain", 3, "derived"),
    RegistryField("dp_variant", "unprotected_quantities", 3, "derived"),
    RegistryField("privacy_loss", "privacy_unit", 2, "derived"),
    RegistryField("privacy_loss", "privacy_unit_details", 3, "derived"),
    RegistryField("privacy_loss", "privacy_parameters", 2, "derived", "numbers"),
    RegistryField("privacy_loss", "privacy_parameters_details", 3, "derived"),
    RegistryField("deployment_model", "model_name", 2, "derived", allowed=_MODELS),
    RegistryField("deployment_model", "model_name_details", 0, "derived"),
    RegistryField("deployment_model", "actors", 3, "drafted"),
    RegistryField("deployment_model", "release_type", 2, "derived", allowed=_RELEASES),
    RegistryField("deployment_model", "release_type_details", 0, "derived"),
    RegistryField("deployment_model", "data_source_type", 2, "derived", allowed=_DATA),
    RegistryField("deployment_model", "data_source_type_details", 3, "drafted"),
    RegistryField("deployment_model", "access_type", 2, "derived", allowed=_ACCESS),
    RegistryField("deployment_model", "access_type_details", 3, "derived"),
    RegistryField("accounting", "post_processing", 3, "derived"),
    RegistryField("accounting", "composition", 3, "derived"),
    RegistryField("implementation", "preprocessing_and_hyperparameter_tuning", 3, "drafted"),
    RegistryField("implementation", "mechanisms", 3, "derived"),
    RegistryField("implementation", "justification", 3, "words"),
    RegistryField("administrative", "sources", 1, "drafted"),
    RegistryField("administrative", "notes", 1, "words"),
    RegistryField("administrative", "registry_authors", 1, "words", "list", required=True),
)
"""Fields of a deployment in the registry's order; beside them stand url_slug, status and tier."""
