"""Other simulators' own files, as drive files and job files of ours.

`importing`
    Which of them a file is, told by its content.
`reading`
    Values that are taken by name, and the account of what became of each.
`options`
    What the user may say about an import.
`mqsim_device`, `mqsim_workload`, `mqsim_names`
    The two XML files of MQSim; what its forks and older versions call things.
`disksim`
    The files of DiskSim: `disksim_ssd` for Microsoft's extension, `disksim_disk` for hard disks
    with `disksim_layout` and `disksim_seek`, `disksim_flash` for Penn State's FlashSim.
`ssdsim`, `flashsim`
    The parameters of SSDsim, the configuration of Bjørling's FlashSim.
`simplessd`, `simplessd_old`, `simplessd_names`, `simplessd_units`
    SimpleSSD's configurations from 1.0 to 2.1.
`parv`, `settings_text`, `xml_text`, `file_text`
    The forms that files have.
"""

from ssdscope.targets.imports.importing import Imported, import_file
from ssdscope.targets.imports.options import ImportOptions

__all__ = ["ImportOptions", "Imported", "import_file"]
