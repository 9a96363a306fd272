"""Names in MQSim's files: those of forks and older versions, and the defaults of its sources.

MQSim takes its own default for a tag that is missing, and says nothing of a tag that it does not
know. So old files and those of forks run there, and are read here by the same rules.
"""

ROOTS = ("Execution_Parameter_Set", "ExecParameterSet")
"""The root of a device file; the second is a fork's."""
SECTIONS = {
    "host": ("Host_Parameter_Set", "HostParameterSet"),
    "device": ("Device_Parameter_Set", "DeviceParameterSet"),
    "flash": (
        "Device_Parameter_Set/Flash_Parameter_Set",
        "Device_Parameter_Set/FlashParameterSet",
        "DeviceParameterSet/FlashParameterSet",
    ),
}
SYNTHETIC = ("IO_Flow_Parameter_Set_Synthetic", "SyntheticFlowParamSet")
TRACE = ("IO_Flow_Parameter_Set_Trace_Based", "TraceFlowParameterSet", "TraceFlowParamSet")
FLOW_OLD_NAMES = {"Intensity": "Bandwidth"}
FLOW_DEFAULTS = {
    "Priority_Class": "HIGH",
    "Working_Set_Percentage": "100",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Request_Size_Distribution": "FIXED",
    "Variance_Request_Size": "0",
    "Percentage_of_Hot_Region": "0",
    "Stop_Time": "0",
    "Total_Requests_To_Generate": "0",
}
"""What an older file without the tag meant: MQSim had no choice there then."""
DISTRIBUTIONS = {
    "RANDOM_UNIFORM": "uniform",
    "UNIFORM_RANDOM": "uniform",
    "STREAMING": "in order",
    "RANDOM_HOTCOLD": "hot",
    "HOTCOLD_RANDOM": "hot",
}
GENERATORS = {"QUEUE_DEPTH": "depth", "BANDWIDTH": "rate", "ARRIVAL_RATE": "rate"}
OLD_NAMES = {
    "Data_Cache_DRAM_Data_Burst_Size": "Data_Cache_DRAM_Data_Busrt_Size",
    "Page_Metadata_Capacity": "Page_Metadat_Capacity",
    "Prefered_suspend_erase_time_for_read": "Preferred_suspend_erase_time_for_read",
    "Prefered_suspend_erase_time_for_write": "Preferred_suspend_erase_time_for_write",
    "Prefered_suspend_write_time_for_read": "Preferred_suspend_write_time_for_read",
    "GC_Exect_Threshold": "GC_Exec_Threshold",
}
"""By another spelling, the one that is read here."""
DEFAULTS = {
    "host": {"PCIe_Lane_Bandwidth": "0.4", "PCIe_Lane_Count": "4"},
    "device": {
        "Enabled_Preconditioning": "true",
        "HostInterface_Type": "NVME",
        "Queue_Fetch_Size": "512",
        "Caching_Mechanism": "ADVANCED",
        "Data_Cache_Capacity": "536870912",
        "Data_Cache_DRAM_Data_Rate": "800",
        "Data_Cache_DRAM_Data_Busrt_Size": "4",
        "Ideal_Mapping_Table": "false",
        "CMT_Capacity": "2097152",
        "Plane_Allocation_Scheme": "CWDP",
        "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
        "Overprovisioning_Ratio": "0.07",
        "GC_Exec_Threshold": "0.05",
        "GC_Block_Selection_Policy": "RGA",
        "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": "true",
        "GC_Hard_Threshold": "0.005",
        "Flash_Channel_Count": "8",
        "Flash_Channel_Width": "1",
        "Channel_Transfer_Rate": "300",
        "Chip_No_Per_Channel": "4",
    },
    "flash": {
        "Flash_Technology": "MLC",
        "Page_Read_Latency_LSB": "75000",
        "Page_Read_Latency_CSB": "75000",
        "Page_Read_Latency_MSB": "75000",
        "Page_Program_Latency_LSB": "750000",
        "Page_Program_Latency_CSB": "750000",
        "Page_Program_Latency_MSB": "750000",
        "Block_Erase_Latency": "3800000",
        "Block_PE_Cycles_Limit": "10000",
        "Die_No_Per_Chip": "2",
        "Plane_No_Per_Die": "2",
        "Block_No_Per_Plane": "2048",
        "Page_No_Per_Block": "256",
        "Page_Capacity": "8192",
    },
}
"""What MQSim's sources of 2022 take for a value that is missing."""
