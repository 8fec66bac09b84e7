"""What a machine is: the official system description as a type."""

from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["System"]


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A system in the official system-description form (system_desc_id.json).

    Field names are the official ones with "-" written as "_"; ``to_dict`` gives the official
    spelling. Everything is text or a whole number, "" or 0 when it cannot be seen from software.
    Source: MLPerf submission rules, section "System description".
    """

    submitter: str = ""
    division: str = "closed"
    status: str = "onprem"
    system_name: str = ""
    number_of_nodes: int = 1
    host_processors_per_node: int = 0
    host_processor_model_name: str = ""
    host_processor_core_count: int = 0
    host_processor_vcpu_count: int = 0
    host_processor_frequency: str = ""
    host_processor_caches: str = ""
    host_processor_interconnect: str = ""
    host_memory_capacity: str = ""
    host_memory_configuration: str = ""
    host_storage_type: str = ""
    host_storage_capacity: str = ""
    host_networking: str = ""
    host_networking_topology: str = ""
    accelerators_per_node: int = 0
    accelerator_model_name: str = ""
    accelerator_host_interconnect: str = ""
    accelerator_frequency: str = ""
    accelerator_on_chip_memories: str = ""
    accelerator_memory_configuration: str = ""
    accelerator_memory_capacity: str = ""
    accelerator_interconnect: str = ""
    accelerator_interconnect_topology: str = ""
    cooling: str = ""
    hw_notes: str = ""
    framework: str = ""
    other_software_stack: dict[str, str] = field(default_factory=dict)
    operating_system: str = ""
    sw_notes: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The official JSON object: order, spelling, counts as text, the status in full.

        The official checker stops at a number in some of the fields, and knows no short status.
        """
        return {_OFFICIAL.get(f.name, f.name): self._official(f.name) for f in fields(self)}

    def _official(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "status":
            return _STATUS.get(value, value)
        if isinstance(value, int):
            return "" if value == 0 and name.startswith("host_") else str(value)
        return value

    @property
    def accelerators(self) -> int:
        """Accelerators in all nodes together."""
        return self.number_of_nodes * self.accelerators_per_node


# The words that the official checker has asked for since round 4.1.
_STATUS = {
    "onprem": "Available on-premise",
    "cloud": "Available cloud",
    "preview": "Preview",
    "research": "Research, Development, or Internal (RDI)",
}
_OFFICIAL = {"accelerator_on_chip_memories": "accelerator_on-chip_memories"}
